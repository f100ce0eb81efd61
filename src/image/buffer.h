// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

/* Memory that is reused for the next image. A buffer loses its content when it grows.
 * buffer_reserve returns 0 or -ENOMEM. */

/* size of the largest buffer that buffer_trim keeps; only exceptionally large images need more */
#define KEEP_BYTES ((size_t)16 << 20)

struct buffer {
	uint8_t *data;
	size_t size;
};

must_check int buffer_reserve(struct buffer *buffer, size_t size);
void buffer_trim(struct buffer *buffer);
void buffer_free(struct buffer *buffer);
