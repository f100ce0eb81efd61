// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <roaring/roaring.h>
#include <stdbool.h>
#include <stddef.h>

/* Frees a bitmap, if there is one, and sets the pointer to NULL. */
static inline void bitmap_free(roaring_bitmap_t **bitmap)
{
	if (*bitmap)
		roaring_bitmap_free(*bitmap);
	*bitmap = NULL;
}

static inline roaring_uint32_iterator_t bitmap_begin(const roaring_bitmap_t *bitmap)
{
	roaring_uint32_iterator_t begin;
	roaring_init_iterator(bitmap, &begin);
	return begin;
}

/* Runs the following statement for each id of the bitmap, in ascending order. The statement must
 * not change the bitmap. */
#define BITMAP_FOREACH(id, bitmap)                                                       \
	for (roaring_uint32_iterator_t next_ = bitmap_begin(bitmap);                     \
		next_.has_value && ((id) = next_.current_value, true);                   \
		roaring_advance_uint32_iterator(&next_))

/* Scope cleanup, as in base/cleanup.h: the variable's bitmap is freed when its scope ends. */
#define auto_bitmap __attribute__((cleanup(bitmap_free)))
