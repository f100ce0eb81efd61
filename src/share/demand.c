// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "share/share.h"

#include <math.h>

#define PROBE 1.3
/* fraction of a window: readers that idle for a smaller part of it do so by chance */
#define NEVER_IDLES .15
/* fraction of a window: readers that idle for a larger part of it have enough samples */
#define OFTEN_IDLES .9

/* fraction of the estimated rate: a job that gets at least this part counts as satisfied */
#define MET .95

/* Returns the rate after a step towards the measured rate `found`: up by a factor of at most PROBE,
 * or down by half of the difference. The steps upwards are limited, because readers that wait for
 * decoders are also idle for moments, and a rate measured then is far above their need. */
static double toward(double rate, double found)
{
	if (rate <= 0)
		return found;
	return found > rate ? fmin(found, rate * PROBE) : (rate + found) / 2;
}

static double raise(double rate, double got)
{
	return got < rate * MET ? rate : fmax(rate, got * PROBE);
}

/* Tells whether a window contradicts the rate. A rate found in a window with few waits is reliable,
 * and is kept until it is contradicted. A single window with waits says little, because one of
 * several readers often waits while the job as a whole does not. */
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
