// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/scratch.h"

#include <stdio.h>

#include <jpeglib.h>

/*
 * Gives libjpeg scratch memory for an image, by replacing its table of memory functions: libjpeg
 * allocates about two dozen pieces per image, which are freed together. Memory that
 * jpeg_create_decompress has allocated stays in libjpeg's own manager.
 *
 *   Flow: jpeg_create_decompress -> jpeg_memory_attach -> (an image -> jpeg_memory_reset)* ->
 *         jpeg_destroy_decompress -> scratch_free.
 */

struct jpeg_memory {
	/* the first field, because libjpeg's pointer to `manager` is cast to struct jpeg_memory */
	struct jpeg_memory_mgr manager;
	struct jpeg_memory_mgr *own; /* libjpeg's own manager */
	struct scratch scratch;
};

void jpeg_memory_attach(struct jpeg_memory *memory, struct jpeg_decompress_struct *info);

/* Frees the memory of an image, even if it was not decoded completely. Removes the image's
 * quantisation and Huffman tables: libjpeg would use them for a later image without tables. */
void jpeg_memory_reset(struct jpeg_memory *memory, struct jpeg_decompress_struct *info);
