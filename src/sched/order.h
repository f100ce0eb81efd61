// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"
#include "sched/sched.h"

/*
 * The lasting order of one epoch: two mapped files of little-endian uint32.
 *
 *   epoch-0000.ids   sample id per position, 0xFFFFFFFF while unbound
 *   epoch-0000.log   per binding, in that order: position, and in the upper two bits how
 *                    it was served; 0xFFFFFFFF where there is none yet
 *
 * The ids alone are the state of the sampler; the log is what epoch-NNNN.order shows.
 * Both survive a crash of the daemon; a binding that the log lost is put at its end.
 *
 *   Owns: the mappings.   Threads: caller serialises.   Errors: -errno; -ESTALE when the
 *   file has another number of positions.
 */

struct order {
	uint32_t *ids;
	uint32_t *log;
	uint32_t samples; /* positions */
	uint32_t bound;
	bool read; /* bound is known, the log is whole */
};

/* create: makes the files when there are none; they appear whole, or not at all. */
must_check int order_open(const char *directory, uint32_t epoch, uint32_t samples,
	bool create, struct order *ret);

/*
 * The same in two parts: mapping costs little and tells the sample of each position;
 * reading goes through all positions, and is for those who want to know how many are
 * bound, or in which order. order_read gives it as *ret_bound, for the caller to put
 * into `bound` and set `read`.
 */
must_check int order_map(
	const char *directory, uint32_t epoch, uint32_t samples, struct order *ret);
must_check int order_read(const struct order *order, uint32_t *ret_bound);
bool order_log_begins(const struct order *order); /* something was bound */
void order_close(struct order *order);

sample_id order_sample(const struct order *order, uint32_t position);
void order_bind(
	struct order *order, uint32_t position, sample_id sample, enum served served);
void order_binding(const struct order *order, uint32_t k, struct sched_binding *ret);
