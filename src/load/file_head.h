// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "image/array.h"
#include "image/head.h"

#include <stdbool.h>

/*
 * Makes the bytes that precede the tensor in a file of the mount: a head, and in a record also the
 * label.
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
	bool record; /* a record of a label and an image; only with HEAD_NPY */
	uint32_t label;
	/* type of the array that a program made; NULL: the tensor has pixels */
	const struct array_type *array;
};

/* Returns the number of bytes of the head and, if head.record is set, the label. */
size_t file_head_make(struct file_head head, struct tensor_shape shape,
	uint8_t ret[static FILE_HEAD_SIZE]);

/* Makes the head and the label of a record, which consists of a label and an image. Returns the
 * number of bytes of head and label. type, shape, axes: the image's; type is NumPy's name, such as
 * "<f4". */
size_t file_head_record(const char *type, const uint32_t *shape, size_t axes,
	uint32_t label, uint8_t ret[static FILE_HEAD_SIZE]);

/* One of the two arrays in the record of a sample with a mask: the image or the mask. */
struct file_head_field {
	const char *name, *type;
	uint32_t shape[3];
};
#define PAIR_HEAD 256 /* bytes of the head of one record, without its label */
/* Makes a head of `bytes` bytes for an array of *records records. A record consists of the two
 * arrays `fields`, without a gap. If `records` is NULL, the file is a single record that begins
 * with a label, which the caller must write after the head. */
void file_head_pair(const struct file_head_field fields[static 2],
	const uint32_t *records, size_t bytes, uint8_t *head);

#define FILE_HEAD_MOST (2 * HEAD_SIZE + 4 * CONFIG_MOST_TARGETS)
/* Makes the head of a record whose label is an array of n float32 numbers. Writes n zeros in place
 * of these numbers. Returns the number of bytes of head and label. type, shape, axes: see
 * file_head_record. */
size_t file_head_targets(const char *type, const uint32_t *shape, size_t axes, uint32_t n,
	uint8_t ret[static FILE_HEAD_MOST]);
