// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "state/state_internal.h"

/*
 * Reads the files that joaderctl export writes: of one job that continues as it was
 * (import.c), or of all ranks of a training that continues, perhaps with another number
 * of ranks (import_ranks.c).
 *
 *   Owns: nothing.   Threads: the one that adds the job.
 *   Errors: -EBADMSG: refused, and reported; other -errno.
 */

/* Maps samples to places and back. A sample's place is its number in the byte order of
 * the paths. */
struct places {
	uint32_t n;
	sample_id *ids;	  /* index: place */
	uint32_t *places; /* index: sample */
	uint64_t fingerprint;
};

/* Finds the places of all samples that the job selects, including the samples of other
 * ranks. */
must_check int places_find(const struct edition *edition, struct places *ret);
void places_free(struct places *places);

/* The checkpoint, and the line after it, which precede the orders of one job. */
struct import_head {
	struct checkpoint from;
	unsigned n_orders, kind;
	uint64_t fingerprint;	     /* hash of the file's samples */
	uint32_t rank, ranks, batch; /* ranks = 0: the job is no rank */
};

/* Reads a head at *offset, and moves *offset to its end. */
must_check int import_read_head(
	const struct adding *adding, uint64_t *offset, struct import_head *ret);

/* Imports all ranks of a training for a job that is a rank. The samples that the ranks
 * had read of their epoch become the log from which the job's training continues. The log
 * is kept in jobs/JOB/training.order. */
must_check int import_ranks(struct job *job, const struct adding *adding);
