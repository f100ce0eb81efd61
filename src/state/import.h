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

/* A sample's place is its index in the list of the selected samples, sorted by the bytes of their
 * paths. */
struct places {
	uint32_t n;
	sample_id *ids;	  /* ids[place]: the sample with this place */
	uint32_t *places; /* places[id]: the place of this sample */
	uint64_t fingerprint;
};

/* Finds the places of the samples that the edition has selected. If the job is a rank, these are
 * the samples of all ranks. The caller calls places_free. */
must_check int places_find(const struct edition *edition, struct places *ret);
void places_free(struct places *places);

/* The head of an export: a checkpoint, and a line about the orders that follow the head
 * (import.c). */
struct import_head {
	struct checkpoint from;
	unsigned n_orders, kind;
	/* hash of the selected samples; has the same value on machines with the same files */
	uint64_t fingerprint;
	uint32_t rank, ranks, batch; /* ranks = 0: the job is no rank */
};

/* Reads the head at *offset. Sets *offset to the end of the head. */
must_check int import_read_head(
	const struct adding *adding, uint64_t *offset, struct import_head *ret);

/* Imports the exports of all ranks of a training for `job`, one rank of the continued training.
 * Writes to jobs/JOB/training.order which samples the ranks had read in the unfinished epoch: the
 * log of the continued training begins with these samples. */
must_check int import_ranks(struct job *job, const struct adding *adding);
