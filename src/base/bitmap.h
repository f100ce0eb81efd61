// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <roaring/roaring.h>
#include <stddef.h>

/* Frees a bitmap, if there is one, and sets the pointer to NULL. */
static inline void bitmap_free(roaring_bitmap_t **bitmap)
{
	if (*bitmap)
		roaring_bitmap_free(*bitmap);
	*bitmap = NULL;
}

/* Scope cleanup, as in base/cleanup.h: the variable's bitmap is freed when its scope ends. */
#define auto_bitmap __attribute__((cleanup(bitmap_free)))
