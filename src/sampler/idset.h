// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"

#include <roaring/roaring.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A set of ids below a bound: a bitset with counts above it. Select and rank take O(log
 * n), and membership takes one load. A uniform element is idset_select of a uniform rank.
 * A set takes n/8 bytes for the bits and a few percent more for the counts.
 *
 *   Threads: caller serialises.   Errors: -ENOMEM from making one.
 */

struct idset;

/* Makes an empty set of ids below `bound`. */
must_check int idset_new(uint32_t bound, struct idset **ret);
/* Makes a set of a bitmap's ids, all below `bound`. The bitmap stays the caller's. */
must_check int idset_from_bitmap(
	uint32_t bound, const roaring_bitmap_t *ids, struct idset **ret);
/* Makes a set of all i below n for which `set` contains ids[i]. */
must_check int idset_from_places(
	const struct idset *set, const uint32_t *ids, uint32_t n, struct idset **ret);
must_check int idset_copy(const struct idset *set, struct idset **ret);
void idset_free(struct idset **set);

uint32_t idset_bound(const struct idset *set);
uint32_t idset_size(const struct idset *set);
bool idset_contains(const struct idset *set, uint32_t id); /* false beyond the bound */
void idset_add(struct idset *set, uint32_t id);		   /* the id must be absent */
void idset_remove(struct idset *set, uint32_t id);	   /* the id must be present */

/* Removes places[id] from `set` for each id that `before` has and `now` lacks. `now` is a subset
 * of `before`, of the same bound. */
void idset_remove_lost(struct idset *set, const struct idset *before,
	const struct idset *now, const uint32_t *places);

/* Returns the element that has `rank` smaller ones before it; rank < size. */
uint32_t idset_select(const struct idset *set, uint32_t rank);
/* Returns the number of elements smaller than id (which may be up to the bound). */
uint32_t idset_rank(const struct idset *set, uint32_t id);

/* Returns a new bitmap of the elements, which the caller owns; NULL: no memory. */
roaring_bitmap_t *idset_to_bitmap(const struct idset *set);

/* Tells whether all n sets contain the id. Tries them in the given order, up to the first
 * set that lacks it. (The two functions below read the bits of all sets.) */
bool idset_all_contain(const struct idset *const *sets, size_t n, uint32_t id);
/* Counts the elements that all n sets have. */
uint32_t idset_count_shared(const struct idset *const *sets, size_t n);
/* Selects by rank among the elements of `set`, one of the n, that not all of them have. */
uint32_t idset_select_unshared(const struct idset *set, const struct idset *const *sets,
	size_t n, uint32_t rank);

size_t idset_bytes(const struct idset *set); /* memory in use */
void idset_validate(const struct idset *set);
