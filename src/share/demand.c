// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "share/share.h"

#include <math.h>

#define PROBE 1.3
/* Readers that idle for less than this fraction of a window count as never idle. */
#define NEVER_IDLES .15
/* Readers that idle for at least this fraction of a window have enough samples. */
#define OFTEN_IDLES .9

/* A job that gets at least this fraction of its estimated rate counts as satisfied. */
#define MET .95

/* Returns the estimate `rate`, moved towards the measured rate `found`. The estimate
 * rises at most by the factor PROBE, because a rate that was measured while readers
 * waited for decoders can be far above their need. */
static double toward(double rate, double found)
{
	if (rate <= 0)
		return found;
	return found > rate ? fmin(found, rate * PROBE) : (rate + found) / 2;
}

/* Returns the new estimate after a window in which the readers never idled: a higher one
 * than `rate` if the job got about `rate`; otherwise `rate` itself. */
static double raise(double rate, double got)
{
	return got < rate * MET ? rate : fmax(rate, got * PROBE);
}

/* Tells whether a window contradicts the estimate `rate`: the job got more samples than
 * estimated, or needs fewer (`found`, the measured rate without waits, is lower). A
 * window with many waits changes a `shown` estimate only if it contradicts the estimate:
 * one of several readers often waits, although the job has enough samples. */
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
