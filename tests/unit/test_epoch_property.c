// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch_random.h"

/*
 * Random events against the twin: whatever readers, streams, orders, the clock and the end
 * of the process do in whichever order, the engine and the twin say the same.
 *
 * JOADERFS_SEED=all tells the seed of each sequence, JOADERFS_SEED=n plays that one alone,
 * and prints it.
 */

#define CASES 1000
#define STEPS 120

static void random_sequence(
	enum epochs_kind kind, uint64_t seed, FILE *out, struct random_seen *seen)
{
	struct random_world random;
	random_begin(&random, kind, seed);
	random.world.out = out;
	random.restarts = true;
	for (int i = 0; i < STEPS; i++)
		random_step(&random);
	random_end(&random, seen);
}

static void random_events(enum epochs_kind kind)
{
	struct random_seen seen = {0};
	const char *which = getenv("JOADERFS_SEED");
	if (which && strcmp(which, "all") != 0) {
		random_sequence(kind, strtoull(which, NULL, 10), stderr, &seen);
		return;
	}
	for (uint64_t seed = 0; seed < CASES; seed++) {
		if (which)
			fprintf(stderr, "seed %d\n", (int)seed);
		random_sequence(kind, seed, NULL, &seen);
	}
	random_check_seen(&seen, kind);
}

Test(epoch_property, drawn, .timeout = 600)
{
	random_events(EPOCHS_DRAWN);
}

Test(epoch_property, drawn_at_open, .timeout = 600)
{
	random_events(EPOCHS_DRAWN_AT_OPEN);
}

Test(epoch_property, fixed, .timeout = 600)
{
	random_events(EPOCHS_FIXED);
}

Test(epoch_property, mirrored, .timeout = 600)
{
	random_events(EPOCHS_MIRRORED);
}
