// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/epoch.h"

#include <stdio.h>

/*
 * Where a job is, as a text of a few lines: what jobs/JOB/state shows, and joaderctl
 * restore is given. joaderfs-state(5) describes it. At most CHECKPOINT_BYTES, however many
 * samples there are.
 *
 *   Owns: nothing.   Threads: any.   Errors: -EINVAL, with a message.
 */

#define CHECKPOINT_BYTES 4096
#define CHECKPOINT_RUNS 96

struct checkpoint {
	char job[80];
	bool has_journal; /* else nothing was read */
	uint64_t journal;
	uint32_t samples;
	uint64_t fingerprint; /* of the samples */
	uint64_t ini;	      /* of the job's configuration */
	struct epochs_place place;
	struct run runs[CHECKPOINT_RUNS]; /* what was read of the running epoch */
	uint32_t n_runs;
	bool all_runs; /* and nothing else was */
};

void checkpoint_print(FILE *out, const struct checkpoint *checkpoint);

/* The text may go on after it. *ret_end: where. */
must_check int checkpoint_parse(const char *text, struct checkpoint *ret,
	const char **ret_end, char message[static 200]);

/* EPOCH:POSITION */
must_check int checkpoint_parse_at(
	const char *text, uint32_t *ret_epoch, uint32_t *ret_position);
