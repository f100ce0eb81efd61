// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/tensor.h"

#include <stddef.h>

/* Types and shapes of arrays, as in NumPy's files. Threads: any; no state. */

#define ARRAY_MOST_AXES 6
/* Most bytes of a shape as text ("16, 224, 224"); a record's header has this room. */
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

/* Parses "16 224 224". false: no shape, or one of more than ARRAY_MOST_BYTES numbers. */
bool array_parse_shape(struct array_type *type, const char *text);

uint64_t array_bytes(const struct array_type *type);

#define ARRAY_TEXT 64
/* Prints the type and the shape, such as "<f4 (16, 224, 224)". */
void array_print(const struct array_type *type, char ret[static ARRAY_TEXT]);

/* Returns the size of an array of RGB pixels; 0x0: the array does not hold pixels. */
struct tensor_shape array_pixels(const struct array_type *type);

#define ARRAY_MOST_HEAD 4096
/* Returns the length of the NumPy head that the n bytes at `data` begin with; 0: more
 * bytes are needed. -EBADMSG: no head of such an array; `message` tells why. */
must_check int array_check_head(const struct array_type *type, const uint8_t *data,
	size_t n, char *message, size_t message_size);
