// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "share/share.h"

#include <math.h>

#define PROBE 1.3
#define NEVER_IDLES .15 /* readers that idle for less of a window count as never idle */
#define OFTEN_IDLES .9	/* readers that idle for this part of a window have enough */

#define MET .95 /* a job that gets this part of its estimated rate is satisfied */

/* Moves the estimate towards the measured rate `found`, upwards at most by the factor PROBE: a rate
 * that was measured while readers waited for decoders can be far above their need. */
static double toward(double rate, double found)
{
	if (rate <= 0)
		return found;
	return found > rate ? fmin(found, rate * PROBE) : (rate + found) / 2;
}

/* Estimates anew after a window without idle readers: higher if the job got about `rate`. */
static double raise(double rate, double got)
{
	return got < rate * MET ? rate : fmax(rate, got * PROBE);
}

/* A window contradicts the estimate if the job got more samples than estimated, or needs fewer
 * (`found`, the measured rate without waits). A window with many waits changes a `shown` estimate
 * only then: one of several readers often waits, although the job has enough samples. */
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
