// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/json.h"
#include "sched/jobs.h"

int json_bytes(struct sched_job *job, uint32_t epoch, uint64_t *ret)
{
	auto_edition *edition = sched_edition(job, epoch);
	uint32_t longest;
	int err = dataset_json_longest(edition->dataset, &longest);
	if (!err)
		*ret = (uint64_t)longest + 1;
	return err;
}

int json_print(FILE *out, struct sched_job *job, uint32_t epoch, sample_id sample)
{
	auto_edition *edition = sched_edition(job, epoch);
	auto_free char *json = NULL;
	uint64_t bytes;
	int err = json_bytes(job, epoch, &bytes);
	if (!err)
		err = dataset_json(edition->dataset, sample, &json);
	if (!err)
		fprintf(out, "%-*s\n", (int)bytes - 1, json);
	return err;
}
