// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/questions.h"

#include <stdio.h>

/*
 * A checkpoint tells how far a job has come, as a text of a few lines: jobs/JOB/state shows it, and
 * joaderctl restore reads it. joaderfs-state(5) describes the text. It has at most CHECKPOINT_BYTES
 * bytes, no matter how many samples the job has.
 *
 *   Owns: nothing.   Threads: any.   Errors: -EINVAL, with a message.
 */

#define CHECKPOINT_BYTES 4096
#define CHECKPOINT_RUNS 96

struct checkpoint {
	char job[80];
	bool has_journal; /* false: no epoch has begun */
	uint64_t journal; /* identity of the job's journal (journal_id) */
	uint32_t samples;
	/* hash of the selected samples, and of the settings that decide which sample a position has
	 * (edition.fingerprint) */
	uint64_t fingerprint;
	uint64_t ini; /* hash of the job's configuration */
	struct epochs_place place;
	/* ranges of positions that were read in the running epoch */
	struct run runs[CHECKPOINT_RUNS];
	uint32_t n_runs;
	/* true: `runs` has all positions that were read; false: others may have been read, too */
	bool all_runs;
};

void checkpoint_print(FILE *out, const struct checkpoint *checkpoint);

/* Parses the checkpoint with which the text begins. *ret_end: the text after the checkpoint */
must_check int checkpoint_parse(const char *text, struct checkpoint *ret,
	const char **ret_end, char message[static 200]);

/* Parses EPOCH:POSITION. -EINVAL: the text has another form. */
must_check int checkpoint_parse_at(
	const char *text, uint32_t *ret_epoch, uint32_t *ret_position);
