// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "share/share.h"

#include <math.h>

#define PROBE 1.3
/* readers that are idle for a smaller part of a window count as never idle */
#define NEVER_IDLES .15
/* readers that are idle for at least this part of a window get all they need */
#define OFTEN_IDLES .9

/* a job that gets this part of its estimated rate counts as getting all of it */
#define MET .95

/* Moves the estimate towards the measured rate `found`, upwards at most by the factor PROBE: a rate
 * that was measured while readers waited for decoders can be far above their need. */
static double toward(double rate, double found)
{
	if (rate <= 0)
		return found;
	return found > rate ? fmin(found, rate * PROBE) : (rate + found) / 2;
}

/* Returns the estimate after a window in which readers were never idle. got: samples per second in
 * this window. If the job got about the estimated `rate`, the new estimate is PROBE times `got`,
 * but at least `rate`. */
static double raise(double rate, double got)
{
	return got < rate * MET ? rate : fmax(rate, got * PROBE);
}

/* Tells whether a window contradicts the estimate `rate`: the job got more samples per second
 * (`got`), or needs fewer (`found`, the measured rate without waits). If readers were not idle for
 * most of the window (OFTEN_IDLES), a `shown` estimate changes only in this case: one of several
 * readers often waits, although the job has enough samples. */
static bool contradicts(double rate, double got, double found)
{
	return got > rate || found < rate;
}

void share_demand_update(struct share_demand *demand, const struct share_window *window)
{
	double idle = fmax(window->seconds - window->waited, 0);
	double got = window->samples / window->seconds, before = demand->rate;
	if (window->samples <= 0 && window->waited <= 0)
		return;
	demand->at_least = idle < NEVER_IDLES * window->seconds;
	if (demand->at_least) {
		demand->rate = raise(before, got);
		demand->shown &= demand->rate <= before;
	} else {
		double found = window->samples / idle;
		bool shows = idle >= OFTEN_IDLES * window->seconds;
		if (shows || !demand->shown || contradicts(before, got, found)) {
			demand->rate = toward(before, found);
			demand->shown = shows;
		}
	}
	demand->rate = fmin(demand->rate, window->most);
}
