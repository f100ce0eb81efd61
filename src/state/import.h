// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "state/state_internal.h"

/*
 * Reads the files that joaderctl export writes: of one job that continues unchanged
 * (import.c), or of all ranks of a training that continues, perhaps with another number
 * of ranks (import_ranks.c).
 *
 *   Owns: nothing.   Threads: the thread that adds the job.
 *   Errors: -EBADMSG: refused, and reported; other -errno.
 */

/* Maps samples to places and back. The place of a sample is its index among the selected samples,
 * in the byte order of their paths. */
struct places {
	uint32_t n;
	sample_id *ids;	  /* the sample at each place */
	uint32_t *places; /* the place of each sample */
	uint64_t fingerprint;
};

/* Finds the places of all samples that the job selects, including those of other ranks. The caller
 * calls places_free. */
must_check int places_find(const struct edition *edition, struct places *ret);
void places_free(struct places *places);

/* The part of a file before the orders of one job: a checkpoint, and a line about the orders. */
struct import_head {
	struct checkpoint from;
	unsigned n_orders, kind;
	uint64_t fingerprint;	     /* hash of the samples in the file */
	uint32_t rank, ranks, batch; /* ranks = 0: the job is no rank */
};

/* Reads the head at *offset, and sets *offset to the end of the head. */
must_check int import_read_head(
	const struct adding *adding, uint64_t *offset, struct import_head *ret);

/* Imports all ranks of a training for a job that is a rank. All samples that the ranks had read of
 * their epoch become the log from which the job's training continues. The log is kept in
 * jobs/JOB/training.order. */
must_check int import_ranks(struct job *job, const struct adding *adding);
