// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "share/share.h"

#include <math.h>

#define PROBE 1.3
#define NEVER_IDLES .05 /* of a window that readers idled in: no more than chance */

/* A job's readers also idle for moments while they wait for decoders. What they would take
 * without waiting is then far more than they need, so it is approached by probing. */
static double toward(double rate, double found)
{
	return found > rate ? fmin(found, rate * PROBE) : (rate + found) / 2;
}

void share_demand_update(struct share_demand *demand, const struct share_window *window)
{
	double idle = fmax(window->seconds - window->waited, 0);
	bool waited = window->waited > 0;
	if (window->samples <= 0 && !waited)
		return;
	demand->at_least = idle < NEVER_IDLES * window->seconds;
	double found = demand->at_least ? window->most : window->samples / idle;
	found = fmin(found, window->most);
	demand->rate = demand->rate > 0 ? toward(demand->rate, found) : found;
	demand->rate = fmin(demand->rate, window->most);
}
