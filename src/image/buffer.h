// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Memory that is reused for the next image. When it grows, its content is lost.
 *
 *   Threads: one at a time.   Errors: -ENOMEM.
 */

/* buffer_trim frees a larger buffer. */
#define KEEP_BYTES ((size_t)16 << 20)

struct buffer {
	uint8_t *data;
	size_t size;
};

/* Makes the buffer at least `size` bytes long. */
must_check int buffer_reserve(struct buffer *buffer, size_t size);
/* Frees the memory if it is larger than KEEP_BYTES, because an exceptionally large image needed
 * it. */
void buffer_trim(struct buffer *buffer);
void buffer_free(struct buffer *buffer);
