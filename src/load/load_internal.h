// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "load/load.h"
#include "load/resample.h"

#include <stddef.h>
#include <stdint.h>

/*
 * What the files of load share: growing buffers, the one way to fail, and the codecs.
 */

/* Memory that is kept from one image to the next. Its content is lost when it grows. */
struct buffer {
	uint8_t *data;
	size_t size;
};

must_check int buffer_reserve(struct buffer *buffer, size_t size);
/* Gives memory back that an exceptionally large image needed. */
void buffer_trim(struct buffer *buffer);
void buffer_free(struct buffer *buffer);

/* Sets the task's message and returns error, a negative errno. */
int load_fail(struct load_task *task, int error, const char *format, ...)
	printf_like(3, 4);

/* The error for a file that no codec knows, with what it seems to be. */
int load_fail_unknown(struct load_task *task, const uint8_t *data, size_t size);

/* How much of a file PIL gives its decoders at once: where a damaged file ends to make
 * sense can depend on it. */
#define CODEC_READ_SIZE 65536

/* A worker does not keep larger buffers from one image to the next. */
#define KEEP_BYTES ((size_t)64 << 20)

/* Rows and columns of a decoded image; pads are 0. */
struct image_part {
	struct crop_axis rows;
	struct crop_axis columns;
};

/*
 * An image format.
 *
 *   Flow: create -> (open -> [scale] -> begin -> read -> close)* -> destroy; close also
 *         after a failure.
 *   Errors: 0 or -errno, with the task's message set.
 */
struct codec {
	const char *name;
	const char *magic;
	size_t magic_bytes;
	int (*create)(void **ret);
	void (*destroy)(void *state);
	/* Reads the header. The data stay where they are until close. */
	int (*open)(void *state, struct load_task *task, const uint8_t *data, size_t size,
		struct tensor_shape *ret);
	/* Decodes less exactly, at a fraction of the size that is not below `least`.
	 * Returns the new size. NULL: can't. */
	struct tensor_shape (*scale)(void *state, struct tensor_shape least);
	/* In: what is asked for; out: what is going to be read, at least that. NULL:
	 * everything is. */
	int (*begin)(void *state, struct image_part *part);
	/* Decodes into rows * columns * 3 bytes. */
	int (*read)(void *state, uint8_t *pixels);
	void (*close)(void *state);
	size_t (*bytes)(const void *state); /* what it holds */
};

extern const struct codec codec_jpeg;
extern const struct codec codec_png;
