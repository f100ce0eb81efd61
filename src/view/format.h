// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/tensor.h"
#include "config/config.h"

#include <stddef.h>

/*
 * Sample formats: how a tensor looks as a file.
 *
 * ppm (P6), npy (version 1.0, uint8, (H,W,3)), raw and source are a head followed by the
 * tensor's bytes as they are: nothing is copied. bmp (24 bit) and png (stored, not
 * compressed) are encoded into a buffer of the open file.
 *
 *   Owns: format_file owns `encoded` only.   Threads: none inside.   Errors: -ENOMEM.
 */

struct format_file {
	uint8_t head[128];
	size_t head_bytes;
	uint8_t *encoded; /* the whole file, or NULL: head + tensor */
	uint64_t bytes;	  /* of the whole file */
};

/* Bytes of the file for a tensor of this shape (source: of file_bytes). */
uint64_t format_file_bytes(
	enum sample_format format, struct tensor_shape shape, uint64_t file_bytes);

must_check int format_file_make(
	enum sample_format format, const struct tensor *tensor, struct format_file *ret);
void format_file_free(struct format_file *file);

/* "ppm", "bmp", ...: the name in the ini, which is also the default extension. */
const char *format_name(enum sample_format format);
