// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "state/state_internal.h"

/*
 * Reads the files that joaderctl export writes. import.c reads the export of one job, which
 * continues unchanged. import_ranks.c reads the exports of all ranks of a training, which may
 * continue with another number of ranks.
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

/* The head of the export of one job, which the job's orders follow: a checkpoint, and a line about
 * the orders. */
struct import_head {
	struct checkpoint from;
	unsigned n_orders, kind;
	uint64_t fingerprint;	     /* hash of the samples in the file */
	uint32_t rank, ranks, batch; /* ranks = 0: the job is no rank */
};

/* Reads the head at *offset, and sets *offset to the end of the head. */
must_check int import_read_head(
	const struct adding *adding, uint64_t *offset, struct import_head *ret);

/* Imports the exports of all ranks of a training, for a job that is a rank of the continued
 * training. Saves in jobs/JOB/training.order the samples that the ranks had read in the unfinished
 * epoch. The log of the continued training begins with these samples. */
must_check int import_ranks(struct job *job, const struct adding *adding);
