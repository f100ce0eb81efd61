// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "image/array.h"
#include "image/head.h"

#include <stdbool.h>

/*
 * Makes the bytes that precede the tensor in a file: a head, and in a record also the label.
 *
 *   0         HEAD_SIZE   FILE_HEAD_SIZE
 *   +---------+-----------+------------------+
 *   | NumPy   | label as  | the tensor's     |     a record
 *   | header  | NumPy <i8 | bytes            |
 *   +---------+-----------+------------------+
 *
 *   Threads: any; no state.   Errors: none.
 */

#define FILE_HEAD_SIZE (HEAD_SIZE + 8) /* bytes of a head and a label */

struct file_head {
	enum head_kind kind;
	/* the file is a record of a label and an image; `kind` must be HEAD_NPY */
	bool record;
	uint32_t label;
	/* type of the array that a program made; NULL: the tensor has pixels */
	const struct array_type *array;
};

/* Makes all bytes that precede the tensor in a file: the head and, in a record, the label. Returns
 * their number. */
size_t file_head_make(struct file_head head, struct tensor_shape shape,
	uint8_t ret[static FILE_HEAD_SIZE]);

/* Makes the head of a record, and the label that follows the head. type: NumPy's name of the
 * image's type, such as "<f4". shape: the lengths of the image's axes. Returns the number of
 * bytes. */
size_t file_head_record(const char *type, const uint32_t *shape, size_t axes,
	uint32_t label, uint8_t ret[static FILE_HEAD_SIZE]);

/* One of the two arrays in a record of a pair: the image or its mask. */
struct file_head_field {
	const char *name, *type;
	uint32_t shape[3];
};
#define PAIR_HEAD 256 /* bytes of the head of one record, without its label */
/* Makes a head of `bytes` bytes for an array of *records records. Each record consists of the two
 * arrays `fields`, one directly after the other. NULL for `records`: the file is a single record
 * that begins with a label; the caller appends this label to the head. */
void file_head_pair(const struct file_head_field fields[static 2],
	const uint32_t *records, size_t bytes, uint8_t *head);

/* largest number of bytes that file_head_targets makes */
#define FILE_HEAD_MOST (2 * HEAD_SIZE + 4 * CONFIG_MOST_TARGETS)
/* Makes the head of a record whose label is an array of n float32 numbers. These numbers are the
 * last bytes of the head, and are set to 0. type, shape, axes: see file_head_record. Returns the
 * number of bytes. */
size_t file_head_targets(const char *type, const uint32_t *shape, size_t axes, uint32_t n,
	uint8_t ret[static FILE_HEAD_MOST]);

/* Makes the head of a file with this NumPy array. record: true: the file is a record of the label
 * and the array. Returns the number of bytes. */
size_t file_head_array(const struct array_type *array, bool record, uint32_t label,
	uint8_t ret[static FILE_HEAD_SIZE]);
