// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "epoch/record.h"

#include <stddef.h>

/*
 * The order of an epoch that has ended, in a file of its own: <directory>/epoch-0003.order
 * in the state directory; joaderfs-state(5) describes it. It holds the sample of each
 * position and the positions in the order in which they were bound, four bytes each.
 *
 *   Flow: saved once, after the epoch has ended; read by whoever asks for a place in it.
 *   Owns: nothing: a file is opened for each call.
 *   Threads: any.   Errors: -errno, -EINVAL for a file that is not whole (logged).
 */

struct binding {
	uint32_t position;
	sample_id sample;
	enum served served;
};

/*
 * In memory. Pages that nothing was bound in stay untouched zeros, so a sample is kept as
 * one more than it is.
 */
struct order {
	uint32_t positions;
	uint32_t bound;
	const uint32_t *samples; /* by position: sample + 1, 0 while unbound */
	const uint32_t *log;	 /* by binding: order_log_entry */
};

static inline sample_id order_sample_at(const struct order *order, uint32_t position)
{
	return order->samples[position] - 1; /* SAMPLE_NONE while unbound */
}

#define ORDER_POSITION_BITS 30

static inline uint32_t order_log_entry(uint32_t position, enum served served)
{
	return position | (uint32_t)served << ORDER_POSITION_BITS;
}

static inline struct binding order_binding(const struct order *order, uint32_t k)
{
	uint32_t position = order->log[k] & ((UINT32_C(1) << ORDER_POSITION_BITS) - 1);
	return (struct binding){position, order_sample_at(order, position),
		(enum served)(order->log[k] >> ORDER_POSITION_BITS)};
}

/* Complete and synced under another name first, then renamed. An error is not logged: the
 * caller, who tries again, knows whether it is a new one. */
must_check int order_save(const char *directory, uint32_t epoch, uint64_t fingerprint,
	const struct order *order);

/* The sample of a position, SAMPLE_NONE: it was never bound. -ENOENT: there is no such
 * order. */
must_check int order_look_up(
	const char *directory, uint32_t epoch, uint32_t position, sample_id *ret);

/* Up to n bindings from the k-th on. */
must_check int order_bindings(const char *directory, uint32_t epoch, uint32_t k,
	uint32_t n, struct binding *ret, uint32_t *ret_n);

/* The epochs that have an order in the directory, ascending; the caller frees *ret. Files
 * of another fingerprint or number of positions are logged and left out. */
must_check int order_list(const char *directory, uint32_t positions, uint64_t fingerprint,
	uint32_t **ret, size_t *ret_n);

/* Those of epochs before this one are removed. */
void order_prune(const char *directory, uint32_t epoch);
