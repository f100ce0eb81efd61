// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"

#include <roaring/roaring.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A set of ids below a bound n: a bitset of n/8 bytes, and counts of its parts, which
 * take a few percent more. Finding the element of a rank (idset_select), or the rank of
 * an element (idset_rank), takes O(log n); a test of membership takes one load. A
 * uniform rank selects a uniform element.
 *
 *  Threads: the caller serialises.   Errors: -ENOMEM from functions that make a set.
 */

struct idset;

must_check int idset_new(uint32_t bound, struct idset **ret);
/* The ids must all be below `bound`. The caller still owns the bitmap. */
must_check int idset_from_bitmap(
	uint32_t bound, const roaring_bitmap_t *ids, struct idset **ret);
/* Makes a set of places: place i, below n, is in the new set if ids[i] is in `set`. */
must_check int idset_from_places(
	const struct idset *set, const uint32_t *ids, uint32_t n, struct idset **ret);
must_check int idset_copy(const struct idset *set, struct idset **ret);
void idset_free(struct idset **set);

uint32_t idset_bound(const struct idset *set);
uint32_t idset_size(const struct idset *set);
/* The id may be beyond the bound. */
bool idset_contains(const struct idset *set, uint32_t id);
void idset_remove(struct idset *set, uint32_t id); /* the id must be present */

/* Removes places[id] from `set` for each id in `before` that is not in `now`. `now` is a
 * subset of `before`, with the same bound. */
void idset_remove_lost(struct idset *set, const struct idset *before,
	const struct idset *now, const uint32_t *places);

/* Returns the element with exactly `rank` smaller ones. rank must be below the size. */
uint32_t idset_select(const struct idset *set, uint32_t rank);
/* The number of elements smaller than id, which may equal the bound. */
uint32_t idset_rank(const struct idset *set, uint32_t id);

/* The caller frees the bitmap. NULL: no memory. */
roaring_bitmap_t *idset_to_bitmap(const struct idset *set);

/* Tests the sets in the given order, up to the first one that lacks the id. */
bool idset_all_contain(const struct idset *const *sets, size_t n, uint32_t id);
/* Counts the elements that are in all n sets, by reading all their bits. */
uint32_t idset_count_shared(const struct idset *const *sets, size_t n);
/* Returns the element of this rank among those elements of `set` that at least one of
 * the n sets lacks. `set` must be one of them. Reads all their bits. */
uint32_t idset_select_unshared(const struct idset *set, const struct idset *const *sets,
	size_t n, uint32_t rank);

size_t idset_bytes(const struct idset *set); /* the memory in use */
void idset_validate(const struct idset *set);
