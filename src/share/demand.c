// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "share/share.h"

#include <math.h>

#define PROBE 1.3
#define NEVER_IDLES .05 /* of a window that readers idled in: no more than chance */

#define MET .95 /* of a need: no less than that, but for chance */

/* A job's readers also idle for moments while they wait for decoders. What they would take
 * without waiting is then far more than they need, so it is approached by steps. */
static double toward(double rate, double found)
{
	return found > rate ? fmin(found, rate * PROBE) : (rate + found) / 2;
}

static double raise(double rate, double got)
{
	return got < rate * MET ? rate : fmax(rate, got * PROBE);
}

void share_demand_update(struct share_demand *demand, const struct share_window *window)
{
	double idle = fmax(window->seconds - window->waited, 0);
	if (window->samples <= 0 && window->waited <= 0)
		return;
	demand->at_least = idle < NEVER_IDLES * window->seconds;
	if (demand->at_least)
		demand->rate = raise(demand->rate, window->samples / window->seconds);
	else if (demand->rate <= 0)
		demand->rate = window->samples / idle;
	else
		demand->rate = toward(demand->rate, window->samples / idle);
	demand->rate = fmin(demand->rate, window->most);
}
