// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "config/config.h"
#include "image/tensor.h"
#include "load/file_head.h"

#include <stddef.h>

/*
 * Sample formats: the file that a tensor becomes.
 *
 *   ppm, npy (version 1.0), record    a head, then the tensor's own bytes, which are not copied
 *   raw, source                       the tensor's own bytes, without a head
 *   bmp (24 bit), png (uncompressed)  the whole file, encoded into a buffer
 *
 * A record is an npy file with the label and the image. npy, record and raw hold any pixel type,
 * png holds 8 and 16 bits, the others only 8 bits. A png of palette indices is a gray png of the
 * indices.
 *
 *   Owns: `formatted` owns its buffer, not the tensor.   Threads: any; no state.
 *   Errors: -ENOMEM; -EIO: the format does not hold such pixels.
 */

struct formatted {
	uint8_t head[FILE_HEAD_MOST]; /* fits any head, also of a pair with its label */
	size_t head_bytes;
	uint8_t *encoded; /* the whole file; NULL: the file is head + tensor */
	uint64_t bytes;	  /* bytes of the whole file */
};

/* Returns the length of the sample's file. file_bytes: size of the source file, which is the length
 * with FORMAT_SOURCE. */
uint64_t format_bytes(enum sample_format format, struct pixel_type type,
	struct tensor_shape shape, uint64_t file_bytes);

/* Makes a file from the tensor. `label` is used only for a record. If type.targets > 0, the label
 * of a record consists of this many numbers instead (labels = columns: X Y). The head then ends
 * with zeros, over which the caller writes these numbers. */
must_check int format_make(enum sample_format format, struct pixel_type type,
	const struct tensor *tensor, uint32_t label, struct formatted *ret);
void format_free(struct formatted *file);

/* Describes the head before the tensor. Returns false if the format encodes the pixels. */
bool format_head(enum sample_format format, struct file_head *ret);
