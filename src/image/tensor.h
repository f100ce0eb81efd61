// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/backing.h"
#include "base/cleanup.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A tensor: a prepared sample. Usually it holds 8-bit RGB pixels in rows, of the shape
 * (height, width, 3), or gray ones, (height, width, 1), without padding. For the preparation "encoded" it holds the bytes
 * of the source file, and height = width = 0. Once published, it does not change.
 *
 *   Owns: its bytes, and the file that they lie in, until tensor_free was called for each
 *         who holds it.
 *   Threads: immutable once published.
 */

struct tensor_shape {
	uint32_t height; /* pixels */
	uint32_t width;
	bool gray; /* one channel, else red, green and blue */
};

/* 1 or 3 */
static inline uint32_t tensor_channels(struct tensor_shape shape)
{
	return shape.gray ? 1 : 3;
}

struct tensor {
	struct tensor_shape shape;
	uint64_t bytes;
	uint8_t *data;
	/* For a tensor in a file of its own, where it lies behind a head:
	 * see backing.h. */
	struct backing file;
	const uint8_t *head;
	size_t head_bytes;
	uint32_t made_for; /* the job that asked for it first; 0: not known */
	atomic_uint holds;
};

/* Of the pixels of a shape; UINT64_MAX if there are more than that. */
uint64_t tensor_shape_bytes(struct tensor_shape shape);

/* NULL when there is no memory. */
struct tensor *tensor_new(struct tensor_shape shape, uint64_t bytes);
/*
 * Moves a tensor into a file that begins with the head, so that the kernel can give it to
 * readers. Takes the tensor over and returns it, unchanged if there can be no file.
 */
struct tensor *tensor_to_file(struct tensor *tensor, struct backings *backings,
	const uint8_t *head, size_t head_bytes);
/* One more who holds it. */
struct tensor *tensor_hold(struct tensor *tensor);
void tensor_free(struct tensor *tensor); /* may be NULL */
