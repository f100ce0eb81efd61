// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/scratch.h"

#include <stdio.h>

#include <jpeglib.h>

/*
 * Gives libjpeg scratch memory for an image.
 *
 * libjpeg allocates two dozen pieces per image. Its memory manager is a table of
 * functions that may be replaced. The functions here take from the scratch memory and
 * free nothing. The pieces that the decompressor allocated when it was created stay
 * libjpeg's own.
 *
 *   Flow: jpeg_create_decompress -> jpeg_memory_attach -> (an image ->
 *         jpeg_memory_reset)* -> jpeg_destroy_decompress -> scratch_free.
 */

struct jpeg_memory {
	struct jpeg_memory_mgr manager; /* first member: libjpeg has a pointer to it */
	struct jpeg_memory_mgr *own;	/* libjpeg's own manager */
	struct scratch scratch;
};

void jpeg_memory_attach(struct jpeg_memory *memory, struct jpeg_decompress_struct *info);

/*
 * Ends an image, finished or not, and forgets its tables: libjpeg keeps quantisation and
 * Huffman tables, and would use them for a following image that has none.
 */
void jpeg_memory_reset(
	struct jpeg_memory *memory, struct jpeg_decompress_struct *info, size_t keep);
