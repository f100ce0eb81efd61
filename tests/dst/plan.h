// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/clock.h"
#include "base/ensure.h"

#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The seeds that a simulation plays, in several processes. */

struct plan {
	uint64_t end_ns;
	uint64_t first, runs;
	unsigned processes;
	uint32_t stride; /* of the sites that fail; 0: no site fails */
};

#define PLAN_ALL                                                                         \
	{                                                                                \
		.end_ns = UINT64_MAX, .runs = UINT64_MAX, .processes = 1                 \
	}

#define PLAN_OPTIONS                                                                     \
	{"seconds", 1, NULL, 's'}, {"runs", 1, NULL, 'r'}, {"seed", 1, NULL, 'n'},       \
	{                                                                                \
		"processes", 1, NULL, 'p'                                                \
	}

/* Takes the option that getopt_long has found. false: it is none of PLAN_OPTIONS. */
static inline bool plan_take(struct plan *plan, int option)
{
	switch (option) {
	case 's':
		plan->end_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(atof(optarg) * 1e9);
		return true;
	case 'r':
		plan->runs = strtoull(optarg, NULL, 10);
		return true;
	case 'n':
		plan->first = strtoull(optarg, NULL, 10);
		plan->runs = plan->runs == UINT64_MAX ? 1 : plan->runs;
		return true;
	case 'p':
		plan->processes = (unsigned)strtoul(optarg, NULL, 10);
		return true;
	default:
		return false;
	}
}

/* Calls `play` for each seed of one process. */
static inline void plan_play(
	const struct plan *plan, unsigned process, void (*play)(uint64_t seed))
{
	for (uint64_t i = process;
		i < plan->runs && clock_ns(CLOCK_MONOTONIC) < plan->end_ns;
		i += plan->processes)
		play(plan->first + i);
}

#define MOST_PROCESSES 64

/* Calls `play` in several processes, so that a failure leaves nothing behind in the others, which
 * are then ended. */
static inline int plan_play_all(const struct plan *plan,
	int (*play)(const struct plan *plan, unsigned process, const char *directory),
	const char *directory)
{
	pid_t children[MOST_PROCESSES], ended;
	int failed = 0, status;
	ensure(plan->processes <= MOST_PROCESSES);
	for (unsigned i = 0; i < plan->processes; i++) {
		children[i] = fork();
		ensure(children[i] >= 0);
		if (children[i] == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			exit(play(plan, i, directory));
		}
	}
	while ((ended = wait(&status)) > 0) {
		failed |= status != 0;
		for (unsigned i = 0; i < plan->processes; i++) {
			if (children[i] == ended)
				children[i] = 0;
			else if (failed && children[i] > 0)
				kill(children[i], SIGTERM);
		}
	}
	return failed;
}
