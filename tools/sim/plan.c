// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "sim.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Prints the ini of the scenario. Loads are counted only in the second and third epoch of time,
 * because in the first one they depend on the initial state of the cache. */
static void print_plan(FILE *out, const struct sim_plan *plan)
{
	fprintf(out,
		"[scenario]\n"
		"title = %" PRIu32 " jobs on %" PRIu32
		" samples, begun one after the other within an epoch\n"
		"sampler = isa dsa exchange\n"
		"cache = 1%% 2%% 5%% 10%% 25%% 50%% 75%%\n"
		"warmup = 1\n"
		"length = 2\n"
		"[dataset all]\n"
		"ids = 0-%" PRIu32 "\n",
		plan->jobs, plan->samples, plan->samples - 1);
	for (uint32_t i = 0; i < plan->jobs; i++)
		fprintf(out,
			"[job %" PRIu32 "]\n"
			"dataset = all\n"
			"start = %.4f\n"
			"epochs = on\n",
			i + 1, (double)i / plan->jobs);
}

int sim_load_plan(const struct sim_plan *plan, struct sim_scenario *ret)
{
	auto_free char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	print_plan(out, plan);
	if (fclose(out) != 0)
		return -ENOMEM;
	return sim_parse("plan", text, ret);
}

/* Parses a line of MOUNT/datasets/NAME/info. If several lines have a size of prepared samples,
 * keeps the size that most jobs use. *most: the number of these jobs so far. */
static void take_line(const char *line, uint32_t *most, struct sim_plan *ret)
{
	uint32_t samples, jobs;
	uint64_t bytes;
	if (sscanf(line, "samples %" SCNu32, &samples) == 1 && !ret->samples)
		ret->samples = samples;
	if (sscanf(line,
		    "prepared %" SCNu32 " samples of %" SCNu64
		    " bytes, all of them %*[^,], for jobs: %" SCNu32,
		    &samples, &bytes, &jobs) == 3 &&
		jobs > *most) {
		*most = jobs;
		ret->sample_bytes = (double)bytes;
	}
}

int sim_plan_dataset(const char *directory, struct sim_plan *ret)
{
	auto_free char *path = aprintf("%s/info", directory), *line = NULL;
	size_t room = 0;
	uint32_t most = 0;
	if (!path)
		return -ENOMEM;
	auto_fclose FILE *file = fopen(path, "re");
	if (!file) {
		fprintf(stderr,
			"joader-sim: --dataset: %s: %s; allowed: MOUNT/datasets/NAME\n",
			path, strerror(errno));
		return -EINVAL;
	}
	while (getline(&line, &room, file) > 0)
		take_line(line, &most, ret);
	if (ret->samples && ret->sample_bytes > 0)
		return 0;
	fprintf(stderr,
		"joader-sim: --dataset: %s: found no line \"prepared\", which the "
		"dataset of "
		"a job has\n",
		path);
	return -EINVAL;
}
