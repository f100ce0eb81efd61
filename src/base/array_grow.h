// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdlib.h>

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
