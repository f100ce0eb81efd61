// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "share/share.h"

#include <math.h>

#define PROBE 1.3
#define NEVER_IDLES .15 /* of a window that readers idled in: no more than chance */
#define OFTEN_IDLES .9	/* they have enough */

#define MET .95 /* of a need: no less than that, but for chance */

/* A job's readers also idle for moments while they wait for decoders. What they would take
 * without waiting is then far more than they need, so it is approached by steps. */
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

/* Of several readers often one waits while the job as a whole does not. A need that was
 * shown by a window with few waits stays, unless what is seen now contradicts it. */
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
