// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "config/config.h"
#include "image/tensor.h"
#include "load/file_head.h"

#include <stddef.h>

/*
 * Sample formats: how a tensor looks as a file.
 *
 *   ppm (P6), npy (version 1.0), record (npy   a head, then the tensor's bytes, which are
 *   of label and image), raw, source           not copied
 *   bmp (24 bit), png (stored)                 encoded into a buffer
 *
 * npy, record and raw hold any pixel type, png also 16 bits, the others only bytes. A palette's
 * indices are the numbers of a gray png.
 *
 *   Owns: `formatted` owns its buffer, not the tensor.
 *   Threads: any; no state.   Errors: -ENOMEM; -EIO: the format does not hold such pixels.
 */

struct formatted {
	uint8_t head[FILE_HEAD_MOST]; /* holds any head, also of a pair with its label */
	size_t head_bytes;
	uint8_t *encoded; /* the whole file; NULL: the file is head + tensor */
	uint64_t bytes;	  /* bytes of the whole file */
};

/* Returns the length of the file of a tensor with this shape; FORMAT_SOURCE: file_bytes. */
uint64_t format_bytes(enum sample_format format, struct pixel_type type,
	struct tensor_shape shape, uint64_t file_bytes);

/* Makes the file of a tensor. label: the label of a record. If type.targets is set, the last bytes
 * of the head are room for the targets, and are zeros. */
must_check int format_make(enum sample_format format, struct pixel_type type,
	const struct tensor *tensor, uint32_t label, struct formatted *ret);
void format_free(struct formatted *file);

/* Tells whether files of the format can hold pixels of the mode. */
bool format_holds(enum sample_format format, enum pixel_mode mode);

/* Describes the head of a format whose files are head + tensor. false: the format encodes
 * pixels. */
bool format_head(enum sample_format format, struct file_head *ret);

/* Returns the format's name in inis ("ppm", "bmp", ...), which is also the default extension. */
const char *format_name(enum sample_format format);
