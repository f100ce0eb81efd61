// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "epoch/record.h"

#include <stddef.h>

/*
 * The order of an ended epoch, in the file <directory>/epoch-0003.order (joaderfs-state(5)): the
 * sample of each position, the bound positions in the order of binding, and the consumed ones in
 * the order of consuming.
 *
 *  Flow: an order is saved when its epoch has ended, or when the job goes back to an earlier point.
 *        It is read for single positions, and loaded for an epoch that continues.
 *  Threads: any.   Errors: -errno; -EINVAL, logged, for an incomplete file.
 */

/* Identifies the samples of an order: their number, and a hash of them. */
struct order_set {
	uint32_t positions;
	uint64_t fingerprint;
};

struct binding {
	uint32_t position;
	sample_id sample;
	enum served served;
};

/* An order in memory. Samples are stored plus one: pages without bindings stay zero, and so take no
 * memory. */
struct order {
	uint32_t positions, bound, consumed;
	uint32_t *samples; /* 1 + the sample of each position; 0: unbound */
	uint32_t *log;	   /* an order_log_entry for each binding */
	uint32_t *reads;   /* the consumed positions, in the order of consuming */
};

/* Returns the hash of a sequence of reads, which are consumed positions. position: the last read of
 * the sequence. hash: the hash of the sequence without the last read; 0: no other reads. */
uint64_t order_reads_hash(uint64_t hash, uint32_t position);

/* Frees the arrays of an order that was loaded. */
void order_free(struct order *order);

static inline sample_id order_sample_at(const struct order *order, uint32_t position)
{
	/* An unbound position has 0, and 0 - 1 is SAMPLE_NONE. */
	return order->samples[position] - 1;
}

#define ORDER_POSITION_BITS 30

static inline uint32_t order_log_entry(uint32_t position, enum served served)
{
	return position | (uint32_t)served << ORDER_POSITION_BITS;
}

static inline uint32_t order_log_entry_position(uint32_t entry)
{
	return entry & ((UINT32_C(1) << ORDER_POSITION_BITS) - 1);
}

static inline struct binding order_binding(const struct order *order, uint32_t k)
{
	uint32_t position = order_log_entry_position(order->log[k]);
	return (struct binding){position, order_sample_at(order, position),
		(enum served)(order->log[k] >> ORDER_POSITION_BITS)};
}

/* Saves an order, completely or not at all. Errors are not logged: the caller tries again. */
must_check int order_save(const char *directory, uint32_t epoch, uint64_t fingerprint,
	const struct order *order);

/* Reads the sample of a position. *ret: SAMPLE_NONE if the position was never bound. -ENOENT: the
 * epoch has no order file. */
must_check int order_look_up(
	const char *directory, uint32_t epoch, uint32_t position, sample_id *ret);

/* Reads up to n bindings, from index k on. *ret_n is below n if the order ends before. */
must_check int order_bindings(const char *directory, uint32_t epoch, uint32_t k,
	uint32_t n, struct binding *ret, uint32_t *ret_n);

/* Lists the epochs whose orders belong to one of the sets, ascending. The caller frees *ret. Orders
 * of other sets are logged and left out. */
must_check int order_list(const char *directory, const struct order_set *sets,
	size_t n_sets, uint32_t **ret, size_t *ret_n);

struct order_found {
	uint32_t epoch;
	struct order_set set;
};
/* Lists all orders, by epoch. Damaged orders are left out, and logged. The caller frees *ret. */
must_check int order_sets(const char *directory, struct order_found **ret, size_t *ret_n);

/* Removes the orders of epochs before `epoch`. */
void order_prune(const char *directory, uint32_t epoch);

/* Loads a whole order, and compares its checksum. -ENOENT: the epoch has no order file; -EINVAL,
 * logged: the order is damaged, or belongs to other samples. */
must_check int order_load(const char *directory, uint32_t epoch, uint32_t positions,
	uint64_t fingerprint, struct order *ret);
/* Reads the number of bound positions from the order's head. */
must_check int order_bound(const char *directory, uint32_t epoch, uint32_t *ret);

/* Saves an order at any path, completely or not at all. */
must_check int order_save_at(const char *path, uint32_t epoch, uint64_t fingerprint,
	const struct order *order);
must_check int order_load_at(const char *path, uint32_t epoch, uint32_t positions,
	uint64_t fingerprint, struct order *ret);

/* Writes an order as a part of a file. *offset: where it begins; on return, where it ends. */
must_check int order_write_to(int fd, uint32_t epoch, uint64_t fingerprint,
	const struct order *order, uint64_t *offset);
/* Reads an order that is a part of a file. *offset: where it begins; on return, where it ends.
 * name: the file's name in messages. */
must_check int order_read_from(int fd, const char *name, uint32_t positions,
	uint64_t fingerprint, uint64_t *offset, uint32_t *ret_epoch, struct order *ret);
