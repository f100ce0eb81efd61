// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The context of the observer, which prints the reads of one epoch of a job. */
struct order_of {
	size_t job;
	uint32_t epoch;
	uint32_t lines;
};

static void print_line(void *context, const struct sim_read *read)
{
	struct order_of *order = context;
	if (read->job != order->job || read->epoch != order->epoch)
		return;
	printf("%" PRIu32 "\t%" PRIu32 "\n", read->position, read->sample);
	order->lines++;
}

static int wrong(const char *which, const char *allowed)
{
	fprintf(stderr, "joader-sim: --order: found \"%s\", allowed: %s\n", which,
		allowed);
	return -EINVAL;
}

/* Parses JOB:EPOCH. */
static int parse(
	const struct sim_scenario *scenario, const char *which, struct order_of *ret)
{
	const char *colon = strrchr(which, ':');
	char *end = NULL;
	errno = 0;
	unsigned long epoch = colon ? strtoul(colon + 1, &end, 10) : 0;
	if (!colon || colon[1] < '0' || colon[1] > '9' || *end || errno ||
		epoch >= UINT32_MAX)
		return wrong(which, "JOB:EPOCH");
	ret->epoch = (uint32_t)epoch;
	for (ret->job = 0; ret->job < scenario->n_jobs; ret->job++) {
		const char *name = scenario->jobs[ret->job].name;
		if (strlen(name) == (size_t)(colon - which) &&
			strncmp(name, which, strlen(name)) == 0)
			return 0;
	}
	return wrong(which, "a job of the scenario");
}

int sim_print_order(const struct sim_scenario *scenario, const char *which)
{
	struct order_of order = {0};
	struct sim_result result;
	int err = parse(scenario, which, &order);
	if (!err && scenario->n_samplers * scenario->n_evictions * scenario->n_caches > 1)
		err = wrong(which, "one curve and one size: give --sampler, "
				   "--eviction, --cache");
	if (err)
		return err;
	struct sim_setup setup = {.sampler = scenario->samplers[0],
		.eviction = scenario->evictions[0],
		.cache = scenario->caches[0],
		.seed = rng_mix(scenario->seed, 0),
		.observer = print_line,
		.context = &order};
	err = sim_run(scenario, &setup, &result);
	if (!err && order.lines == 0)
		err = wrong(which, "an epoch that the job has in this time");
	return err;
}
