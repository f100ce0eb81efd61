// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/json.h"

int json_bytes(struct sched_job *job, uint64_t *ret)
{
	uint32_t longest;
	int err = dataset_json_longest(sched_job_dataset(job), &longest);
	if (!err)
		*ret = (uint64_t)longest + 1;
	return err;
}

int json_print(FILE *out, struct sched_job *job, sample_id sample)
{
	auto_free char *json = NULL;
	uint64_t bytes;
	int err = json_bytes(job, &bytes);
	if (!err)
		err = dataset_json(sched_job_dataset(job), sample, &json);
	if (!err)
		fprintf(out, "%-*s\n", (int)bytes - 1, json);
	return err;
}
