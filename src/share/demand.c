// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "share/share.h"

#include <math.h>

#define PROBE 1.3
/* Readers that idle for a smaller fraction of the measured time idle by chance. */
#define NEVER_IDLES .15
/* Readers that idle for a larger fraction of the measured time have enough samples. */
#define OFTEN_IDLES .9

/* A job that gets at least this fraction of its estimated rate counts as satisfied. */
#define MET .95

/* Returns the estimated rate after a step towards the measured rate `found`: up by a factor of at
 * most PROBE, or down by half of the difference. Steps upwards are limited, because a rate that is
 * measured while the readers wait for decoders can be far above their need. */
static double toward(double rate, double found)
{
	if (rate <= 0)
		return found;
	return found > rate ? fmin(found, rate * PROBE) : (rate + found) / 2;
}

/* Returns a higher rate if the job got the estimated rate, and still its readers never idled. */
static double raise(double rate, double got)
{
	return got < rate * MET ? rate : fmax(rate, got * PROBE);
}

/* Tells whether a measurement shows that the estimated rate is wrong: the job got more samples per
 * second (`got`), or needs fewer (`found`). A measurement with many waits changes a reliable rate
 * only in this case, because one reader often waits while the job as a whole does not. */
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
