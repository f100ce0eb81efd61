// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "state/checkpoint.h"

struct adding;
struct edition;
struct sched_job;

/*
 * What joaderctl export writes of a job, read again: of a job that goes on as it was
 * (import.c), and of the ranks of a training that goes on with others (import_ranks.c).
 *
 *   Owns: nothing.   Threads: the one that adds the job.
 *   Errors: -EBADMSG: refused, and reported; other -errno.
 */

/* Samples by place, in the byte order of their paths, and the reverse. */
struct places {
	uint32_t n;
	sample_id *ids;	  /* by place */
	uint32_t *places; /* by id */
	uint64_t fingerprint;
};

/* Of all samples that the job selects, also of those of other ranks. */
must_check int places_find(const struct edition *edition, struct places *ret);
void places_free(struct places *places);

/* What stands before the orders of one job. */
struct import_head {
	struct checkpoint from;
	unsigned n_orders, kind;
	uint64_t fingerprint;	     /* of the file's samples */
	uint32_t rank, ranks, batch; /* ranks = 0: it is none */
};

/* *offset: where it begins, afterwards where it ends. */
must_check int import_read_head(
	const struct adding *adding, uint64_t *offset, struct import_head *ret);

must_check int import_refuse(const struct adding *adding, const char *format, ...)
	printf_like(2, 3);

/*
 * The job is a rank: what the file's ranks, all of one training, have read of their epoch
 * is the log that its training goes on from. It is kept in jobs/JOB/training.order.
 */
must_check int import_ranks(struct sched_job *job, const struct adding *adding);
