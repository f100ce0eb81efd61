// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/array.h"
#include "image/resample.h"

/* The arrays that a program makes of samples. Those with the same identity are the same. */
struct prepared_array {
	const char *name; /* of the preparation */
	unsigned number;  /* among the daemon's, from 0 on */
	char identity[65];
	struct array_type type;
	struct tensor_shape pixels; /* of arrays that are pixels; 0x0: they are not */
};

struct tensor_sections;

/* The channels that the decoded image gets before it is resized. */
enum preparation_channels {
	CHANNELS_RGB,  /* as Pillow's convert("RGB") gives them */
	CHANNELS_GRAY, /* one, as convert("L") gives it */
	CHANNELS_KEEP, /* as the file has them: its pixel_mode */
};

/*
 * A preparation: how a sample becomes the tensor that is cached. It is a job's [tensor]
 * section, normalised, without the format. Jobs with equal preparations share tensors.
 *
 *   resize_short         the shorter side becomes this many pixels; the other one follows
 *                        as torchvision.transforms.Resize(int) computes it (truncation)
 *   resize_long          the longer side becomes this many pixels; the other one follows
 *                        as ultralytics' LetterBox computes it (rounding)
 *   resize_width/height  both are given; only one of the three is given
 *   filter               of the resize
 *   crop                 torchvision's CenterCrop (fill where the image is smaller)
 *   pad_width/height     the image lies in the middle of fill; pad_square: of a square as
 *                        large as its longer side
 *
 * A zero means "not configured".
 */
struct preparation {
	bool encoded; /* the tensor is the source file's bytes; nothing else may be set */
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
	uint8_t fill
		[3]; /* the colour that crop and pad add; kept channels: of one number */
	bool approximate; /* where a resize follows, decode at a fraction of the size */
	enum preparation_channels channels;
	bool exif;	 /* first turn the image as its EXIF orientation says */
	uint32_t frames; /* the files of a directory are one sample; 0: they are not */
	bool fills_truncated; /* what is missing of a truncated image is black */
	const struct prepared_array
		*array; /* a program makes it; nothing else may be set */
	const struct tensor_sections *sections; /* [tensor NAME], sections.h; or NULL */
};

/* As inis name it. */
const char *resample_filter_name(enum resample_filter filter);

bool preparation_equal(const struct preparation *a, const struct preparation *b);

#define PREPARATION_TEXT 1664
/* As an ini has it, on one line: the same text for equal preparations, on every machine. */
void preparation_print(
	const struct preparation *preparation, char ret[static PREPARATION_TEXT]);

/* The size of an image with this EXIF orientation (1 to 8) once it is turned, if
 * it is. */
struct tensor_shape preparation_image(const struct preparation *preparation,
	struct tensor_shape image, unsigned orientation);

/* The size after resize, before crop, of an image of the given size. */
struct tensor_shape preparation_resized(
	const struct preparation *preparation, struct tensor_shape image);

/* The mode of the pixels of the output. */
enum pixel_mode preparation_mode(
	const struct preparation *preparation, struct tensor_shape image);

/* The final size. {0, 0} for encoded, and for arrays that are no pixels. */
struct tensor_shape preparation_output(
	const struct preparation *preparation, struct tensor_shape image);

/* What of the resized image is in the output, and where: the pads are fill. */
void preparation_window(const struct preparation *preparation,
	struct tensor_shape resized, struct crop_axis *ret_rows,
	struct crop_axis *ret_columns);

/* Bytes of the tensor; file_bytes is the size of the source file, used for encoded. */
uint64_t preparation_bytes(const struct preparation *preparation,
	struct tensor_shape image, uint64_t file_bytes);

/* Of the image as it is decoded, or as it is once it is resized, whichever has more. */
uint64_t preparation_most_pixels(
	const struct preparation *preparation, struct tensor_shape image);

/* Whether all images come out with the same size (a crop, a pad, or a resize to WxH). */
bool preparation_fixed_size(const struct preparation *preparation);
/* true: the preparation resizes. */
bool preparation_resizes(const struct preparation *preparation);
