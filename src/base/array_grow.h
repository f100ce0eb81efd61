// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for one more item in an array of n. Returns the array, which may have moved. Returns
 * NULL, and leaves the array unchanged, if there is no memory. */
static inline void *array_grow(void *items, size_t n, size_t *capacity, size_t item_bytes)
{
	if (n < *capacity)
		return items;
	size_t wanted = *capacity ? *capacity * 2 : 64;
	void *grown = reallocarray(items, wanted, item_bytes);
	if (grown)
		*capacity = wanted;
	return grown;
}

static inline bool array_resize_at(void *items, size_t n, size_t item_bytes)
{
	void *now;
	memcpy(&now, items, sizeof(now));
	void *grown = reallocarray(now, n, item_bytes);
	if (grown)
		memcpy(items, &grown, sizeof(grown));
	return grown;
}

static inline bool array_grow_at(
	void *items, size_t n, size_t *capacity, size_t item_bytes)
{
	size_t wanted = *capacity ? *capacity * 2 : 64;
	if (n < *capacity)
		return true;
	if (!array_resize_at(items, wanted, item_bytes))
		return false;
	*capacity = wanted;
	return true;
}

/* Gives an array room for n items, at least one; the pointer `items` may change. Returns false, and
 * leaves the array unchanged, if there is no memory. */
#define array_resize(items, n) array_resize_at(&(items), n, sizeof(*(items)))

/* Makes room for one more item in an array of n; the pointer `items` may change. Returns false, and
 * leaves the array unchanged, if there is no memory. */
#define array_make_room(items, n, capacity)                                              \
	array_grow_at(&(items), n, capacity, sizeof(*(items)))
