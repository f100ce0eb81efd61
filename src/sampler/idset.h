// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/bitmap.h"
#include "base/cleanup.h"
#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * A set of ids below a bound n: a bitset of n/8 bytes, and the number of elements in each part of
 * the bitset; these numbers take a few percent more memory. The rank of an element is its index in
 * ascending order. Finding the element of a rank (idset_select), or the rank of an element
 * (idset_rank), takes O(log n); a test of membership takes one load.
 *
 *  Threads: the caller serialises.   Errors: -ENOMEM from functions that make a set.
 */

struct idset;

must_check int idset_new(uint32_t bound, struct idset **ret);
/* The ids must all be below `bound`. The caller still owns the bitmap. */
must_check int idset_from_bitmap(
	uint32_t bound, const roaring_bitmap_t *ids, struct idset **ret);
/* Makes a set of indexes of the array `ids`: i, below n, is in *ret if ids[i] is in `set`. */
must_check int idset_from_places(
	const struct idset *set, const uint32_t *ids, uint32_t n, struct idset **ret);
must_check int idset_copy(const struct idset *set, struct idset **ret);
void idset_free(struct idset **set);

uint32_t idset_bound(const struct idset *set);
uint32_t idset_size(const struct idset *set);
/* Returns false if the id is not below the bound. */
bool idset_contains(const struct idset *set, uint32_t id);
void idset_remove(struct idset *set, uint32_t id); /* the id must be present */

/* Removes places[id] from `set`, for each id that is in `before`, but not in `now`. `now` must be a
 * subset of `before`, with the same bound. */
void idset_remove_lost(struct idset *set, const struct idset *before,
	const struct idset *now, const uint32_t *places);

/* Returns the element of this rank, which must be below the size. */
uint32_t idset_select(const struct idset *set, uint32_t rank);
/* Returns the number of elements smaller than `id`. `id` may be at most the bound. */
uint32_t idset_rank(const struct idset *set, uint32_t id);

/* Returns the set's ids in a bitmap, which the caller frees. NULL: no memory. */
roaring_bitmap_t *idset_to_bitmap(const struct idset *set);

/* Tells whether all n sets have the id. Tests them in order, up to the first that lacks the id. */
bool idset_all_contain(const struct idset *const *sets, size_t n, uint32_t id);
/* Counts the elements that are in all n sets. Reads all bits of the sets. */
uint32_t idset_count_shared(const struct idset *const *sets, size_t n);
/* Returns the element at index `rank` of the ascending list of those elements of `set` that are not
 * in all n sets. `set` is one of the n sets. Reads all bits of the sets. */
uint32_t idset_select_unshared(const struct idset *set, const struct idset *const *sets,
	size_t n, uint32_t rank);

size_t idset_bytes(const struct idset *set); /* memory that the set takes */
void idset_validate(const struct idset *set);
