// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/tensor.h"

#include <stddef.h>

/*
 * Arrays as in NumPy's files: of numbers of any type, and of any fixed shape.
 *
 *   Threads: any; no state.   Errors: none.
 */

#define ARRAY_MOST_AXES 6
/* Most bytes of the text of a shape, such as "16, 224, 224", for arrays of at most ARRAY_MOST_BYTES
 * bytes. A record's header has room for this many bytes. */
#define ARRAY_MOST_SHAPE 25
#define ARRAY_MOST_BYTES (UINT64_C(1) << 30)

struct array_type {
	const char *npy; /* NumPy's name of the type, such as "<f4" */
	uint32_t item;	 /* bytes of a number */
	uint32_t axes;	 /* 1 or more */
	uint32_t shape[ARRAY_MOST_AXES];
};

/* The names of the number types, such as "float32"; the last element is NULL. array_set_dtype takes
 * the index of a name. */
extern const char *const array_dtypes[];
void array_set_dtype(struct array_type *type, unsigned n);

/* Parses a shape, such as "16 224 224". false: the text is no shape, or the shape has more than
 * ARRAY_MOST_BYTES numbers. */
bool array_parse_shape(struct array_type *type, const char *text);

uint64_t array_bytes(const struct array_type *type);

#define ARRAY_TEXT 64
/* Prints the type and the shape, such as "<f4 (16, 224, 224)". */
void array_print(const struct array_type *type, char ret[static ARRAY_TEXT]);

/* Returns the shape of an array of pixels, which is stored as (height, width, 3). 0x0: the array
 * does not hold pixels. */
struct tensor_shape array_pixels(const struct array_type *type);

#define ARRAY_MOST_HEAD 4096
/*
 * Checks the head of a NumPy file whose first n bytes are at `data`. Returns the length of the
 * head, or 0 if more bytes are needed. -EBADMSG: the bytes are not a head, or the head describes
 * another type of array; `message` tells which.
 */
must_check int array_check_head(const struct array_type *type, const uint8_t *data,
	size_t n, char *message, size_t message_size);
