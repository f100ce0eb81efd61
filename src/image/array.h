// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/tensor.h"

#include <stddef.h>

/* Types and shapes of arrays, as in NumPy's files. Threads: any; no state. */

#define ARRAY_MOST_AXES 6
/* Largest number of characters of a shape, such as "16, 224, 224", that has at most
 * ARRAY_MOST_AXES axes and ARRAY_MOST_BYTES numbers. Headers of format = record have room for
 * this many. */
#define ARRAY_MOST_SHAPE 25
#define ARRAY_MOST_BYTES (UINT64_C(1) << 30)

/* NumPy's sign for the byte order of this machine. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OUR_ORDER "<"
#else
#define OUR_ORDER ">"
#endif

struct array_type {
	const char *npy; /* NumPy's name of the type, such as "<f4" */
	uint32_t item;	 /* bytes of a number */
	uint32_t axes;	 /* 1 or more */
	uint32_t shape[ARRAY_MOST_AXES];
};

/* Names such as "float32", then NULL. array_set_dtype takes the index of a name. */
extern const char *const array_dtypes[];
void array_set_dtype(struct array_type *type, unsigned n);

/* Parses a text such as "16 224 224". Returns false if the text is no shape, or if the product
 * of its numbers is above ARRAY_MOST_BYTES: each element of an array takes at least one byte. */
bool array_parse_shape(struct array_type *type, const char *text);

uint64_t array_bytes(const struct array_type *type);

#define SHAPE_TEXT 96
/* Prints a shape of at most seven axes as a Python tuple without brackets. Returns the length. */
size_t shape_print(const uint32_t *shape, size_t axes, char ret[static SHAPE_TEXT]);

#define ARRAY_TEXT 64
/* Prints the type and the shape, such as "<f4 (16, 224, 224)". */
void array_print(const struct array_type *type, char ret[static ARRAY_TEXT]);

/* Returns the image's size in an array of RGB pixels, or 0x0 if the array has no such pixels. */
struct tensor_shape array_pixels(const struct array_type *type);

#define ARRAY_MOST_HEAD 4096
/* Checks the NumPy header at the beginning of the n bytes in `data`. Returns the header's length, 0
 * if more bytes are needed, or -EBADMSG if the array is not of this type; `message` tells why. */
must_check int array_check_head(const struct array_type *type, const uint8_t *data,
	size_t n, char *message, size_t message_size);
