// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "image/array.h"
#include "image/head.h"

#include <stdbool.h>

/*
 * Makes the bytes before the tensor in a file: a head, and in a record also the label.
 *
 *   0         HEAD_SIZE   FILE_HEAD_SIZE
 *   +---------+-----------+------------------+
 *   | NumPy's | label <i8 | the tensor's ... |     a record
 *   +---------+-----------+------------------+
 *
 *   Threads: any; no state.   Errors: none.
 */

#define FILE_HEAD_SIZE (HEAD_SIZE + 8) /* bytes that are enough for any head */

struct file_head {
	enum head_kind kind;
	bool record; /* a record with an array, HEAD_NPY */
	uint32_t label;
	const struct array_type *array; /* type of an array without pixels, or NULL */
};

/* Makes the head and returns its length. */
size_t file_head_make(struct file_head head, struct tensor_shape shape,
	uint8_t ret[static FILE_HEAD_SIZE]);

/* Makes the head of a record whose image has these axes. Returns its length. type: NumPy's name of
 * the type, such as "<f4". */
size_t file_head_record(const char *type, const uint32_t *shape, size_t axes,
	uint32_t label, uint8_t ret[static FILE_HEAD_SIZE]);

/* A field of a record with two arrays. */
struct file_head_field {
	const char *name, *type;
	uint32_t shape[3];
};
#define PAIR_HEAD 256 /* bytes of the head, without the label */
/* Makes the head of an array of *records pairs. Each pair has both fields in this order, without
 * gaps. If records is NULL, makes the head of one record; the label follows the head. */
void file_head_pair(const struct file_head_field fields[static 2],
	const uint32_t *records, size_t bytes, uint8_t *head);

/* Most bytes of a head. In a record whose label is an array of n float32 numbers, these numbers are
 * the last bytes of the head, and are zeros here. */
#define FILE_HEAD_MOST (2 * HEAD_SIZE + 4 * CONFIG_MOST_TARGETS)
size_t file_head_targets(const char *type, const uint32_t *shape, size_t axes, uint32_t n,
	uint8_t ret[static FILE_HEAD_MOST]);

/* Makes the head of a NumPy array, or of a record that contains one. Returns its length. */
size_t file_head_array(const struct array_type *array, bool record, uint32_t label,
	uint8_t ret[static FILE_HEAD_SIZE]);
