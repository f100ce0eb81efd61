// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/scratch.h"

#include <stdio.h>

#include <jpeglib.h>

/*
 * Gives libjpeg scratch memory for an image.
 *
 * libjpeg allocates about two dozen pieces of memory per image, through a table of functions that
 * may be replaced. The functions here take the pieces from scratch memory and never free a single
 * piece. The memory that the decompressor allocated when it was created stays in libjpeg's own
 * manager.
 *
 *   Flow: jpeg_create_decompress -> jpeg_memory_attach -> (an image ->
 *         jpeg_memory_reset)* -> jpeg_destroy_decompress -> scratch_free.
 */

struct jpeg_memory {
	/* The first field, because libjpeg knows only its address, which is cast to struct
	 * jpeg_memory. */
	struct jpeg_memory_mgr manager;
	struct jpeg_memory_mgr *own; /* libjpeg's own manager */
	struct scratch scratch;
};

void jpeg_memory_attach(struct jpeg_memory *memory, struct jpeg_decompress_struct *info);

/*
 * Ends an image, whether it is finished or not. Also removes the quantisation and Huffman tables of
 * the image, because libjpeg would use them for a later image that has no tables.
 */
void jpeg_memory_reset(
	struct jpeg_memory *memory, struct jpeg_decompress_struct *info, size_t keep);
