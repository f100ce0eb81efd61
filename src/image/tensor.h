// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/backing.h"
#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What a prepared sample is.
 *
 * A tensor is a block of bytes that does not change after it was published: 8-bit RGB
 * pixels in rows, (height, width, 3), without padding; or, for the preparation
 * "encoded", the bytes of the source file, with height = width = 0.
 *
 *   Owns: the bytes, and their file.   Threads: immutable once published.
 */

struct tensor_shape {
	uint32_t height; /* pixels */
	uint32_t width;
};

struct tensor {
	struct tensor_shape shape;
	uint64_t bytes;
	uint8_t *data;
	/* If it lies in a file of its own, behind a head: see backing.h. */
	struct backing file;
	const uint8_t *head;
	size_t head_bytes;
};

/* NULL when there is no memory. */
struct tensor *tensor_new(struct tensor_shape shape, uint64_t bytes);
/*
 * The same in a file that begins with the head, so that the kernel can give it to
 * readers; the tensor as it is if there can be no file. Takes it over.
 */
struct tensor *tensor_to_file(struct tensor *tensor, struct backings *backings,
	const uint8_t *head, size_t head_bytes);
void tensor_free(struct tensor *tensor); /* may be NULL */

/*
 * What is done to a sample before it is cached: the normalised [tensor] section of a job
 * without its format. Jobs with equal preparations share tensors.
 *
 * resize_short: the shorter side becomes this many pixels, the other one follows as
 * torchvision.transforms.Resize(int) computes it (truncation). resize_width/height: both
 * given. crop: torchvision's CenterCrop (zero padding where the image is smaller).
 * A zero means "not configured"; resize_short excludes resize_width/height.
 */
struct preparation {
	bool encoded; /* the source file as it is; nothing else may be set */
	uint32_t resize_short;
	uint32_t resize_width;
	uint32_t resize_height;
	uint32_t crop_width;
	uint32_t crop_height;
	bool approximate; /* decoded at a fraction of the size, where a resize follows */
	bool exif;	  /* turned as its EXIF orientation says, before anything else */
};

bool preparation_equal(const struct preparation *a, const struct preparation *b);

/* The size that an image with this EXIF orientation (1 to 8) has for the preparation. */
struct tensor_shape preparation_image(const struct preparation *preparation,
	struct tensor_shape image, unsigned orientation);

/* The size after resize, before crop, of an image of the given size. */
struct tensor_shape preparation_resized(
	const struct preparation *preparation, struct tensor_shape image);

/* The final size. {0, 0} for encoded. */
struct tensor_shape preparation_output(
	const struct preparation *preparation, struct tensor_shape image);

/* Bytes of the tensor; file_bytes is the size of the source file, used for encoded. */
uint64_t preparation_bytes(const struct preparation *preparation,
	struct tensor_shape image, uint64_t file_bytes);

/* Whether every image comes out with the same size (a crop, or a resize to WxH). */
bool preparation_fixed_size(const struct preparation *preparation);
