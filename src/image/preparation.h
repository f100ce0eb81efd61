// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/array.h"
#include "image/resample.h"

/* An array that a program makes from a sample. Arrays of one sample are interchangeable if their
 * `identity` is equal. */
struct prepared_array {
	const char *name; /* NAME of the section [preparation NAME] */
	unsigned number;  /* index among the daemon's preparation programs */
	char identity[65];
	struct array_type type;
	struct tensor_shape pixels; /* 0x0: the array does not hold pixels */
};

struct tensor_sections;

enum preparation_channels {
	CHANNELS_RGB,  /* three, as Pillow's convert("RGB") gives them */
	CHANNELS_GRAY, /* one, as Pillow's convert("L") gives it */
	CHANNELS_KEEP, /* the channels of the file, described by its pixel_mode */
};

/*
 * A preparation: how a sample becomes the tensor that is cached. It has those options of a job's
 * [tensor] section that affect the tensor. Jobs with equal preparations share tensors. A zero means
 * "not configured". At most one of the three kinds of resize is configured.
 *
 *   resize_short         length of the shorter side; the longer side is computed, and truncated,
 *                        as in torchvision.transforms.Resize(int)
 *   resize_long          length of the longer side; the shorter side is computed, and rounded, as
 *                        in ultralytics' LetterBox
 *   resize_width/height  the size after the resize
 *   crop                 torchvision's CenterCrop; a smaller image gets pixels of the colour `fill`
 *   pad_width/height     size to which the image is extended, equally on opposite sides, by `fill`
 *   pad_square           like pad_width/height, to a square of the image's longer side
 */
struct preparation {
	/* the tensor is a copy of the file's bytes; no other field may be set */
	bool encoded;
	uint32_t resize_short;
	uint32_t resize_long;
	uint32_t resize_width;
	uint32_t resize_height;
	enum resample_filter filter;
	uint32_t crop_width;
	uint32_t crop_height;
	uint32_t pad_width;
	uint32_t pad_height;
	bool pad_square;
	/* colour of added pixels; if channels are kept, all three numbers are equal */
	uint8_t fill[3];
	/* decode at a smaller size before a resize, if the codec can */
	bool approximate;
	enum preparation_channels channels;
	bool exif; /* turn the image first by its EXIF orientation */
	/* files of a directory that together are a sample (a video); 0: each file is a sample */
	uint32_t frames;
	/* missing pixels of a truncated or damaged JPEG or PNG get Pillow's colours with
	 * LOAD_TRUNCATED_IMAGES: gray in most JPEGs, black in most PNGs; false: -EIO */
	bool fills_truncated;
	/* the array that a program makes; no other field may be set */
	const struct prepared_array *array;
	/* sections [tensor NAME] (sections.h); NULL: none */
	const struct tensor_sections *sections;
};

const char *resample_filter_name(enum resample_filter filter);

bool preparation_equal(const struct preparation *a, const struct preparation *b);

#define PREPARATION_TEXT 1664
/* Prints one line. Equal preparations give the same text on every machine. */
void preparation_print(
	const struct preparation *preparation, char ret[static PREPARATION_TEXT]);

/* Returns the image's size after a turn by this EXIF orientation (1 to 8), if `exif` is set. */
struct tensor_shape preparation_image(const struct preparation *preparation,
	struct tensor_shape image, unsigned orientation);

/* Returns the size of the image after resize, before crop. */
struct tensor_shape preparation_resized(
	const struct preparation *preparation, struct tensor_shape image);

enum pixel_mode preparation_mode(
	const struct preparation *preparation, struct tensor_shape image);

/* Returns the image's size in the tensor, or 0x0 if the tensor has no pixels or copies the file. */
struct tensor_shape preparation_output(
	const struct preparation *preparation, struct tensor_shape image);

/* Tells which part of the resized image is in the output. In the output this part begins at row
 * ret_rows->pad and column ret_columns->pad. The pixels around this part get the fill colour. */
void preparation_window(const struct preparation *preparation,
	struct tensor_shape resized, struct crop_axis *ret_rows,
	struct crop_axis *ret_columns);

/* Returns the bytes of the tensor, without the second image of a pair. file_bytes: the source
 * file's size, used only if `encoded`. */
uint64_t preparation_bytes(const struct preparation *preparation,
	struct tensor_shape image, uint64_t file_bytes);

/* Returns the pixels of the decoded or of the resized image, whichever has more. */
uint64_t preparation_most_pixels(
	const struct preparation *preparation, struct tensor_shape image);

/* Tells whether the tensors of all images have the same size. */
bool preparation_fixed_size(const struct preparation *preparation);
bool preparation_resizes(const struct preparation *preparation);
