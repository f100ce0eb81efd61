// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/preparation.h"
#include "image/sections.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

bool preparation_resizes(const struct preparation *preparation)
{
	return preparation->resize_short || preparation->resize_long ||
	       preparation->resize_width;
}

/* Tells whether `approximate` is set and has an effect, which it has only with a resize. */
static bool approximates(const struct preparation *preparation)
{
	return preparation->approximate && preparation_resizes(preparation);
}

static enum resample_filter filter_of(const struct preparation *preparation)
{
	return preparation_resizes(preparation) ? preparation->filter : FILTER_BILINEAR;
}

static bool orients(const struct preparation *preparation)
{
	return preparation->exif && !preparation->encoded;
}

static bool fills(const struct preparation *preparation)
{
	return preparation->fills_truncated && !preparation->encoded;
}

const char *resample_filter_name(enum resample_filter filter)
{
	static const char *const names[] = {
		[FILTER_BILINEAR] = "bilinear",
		[FILTER_BICUBIC] = "bicubic",
		[FILTER_LANCZOS] = "lanczos",
		[FILTER_BOX] = "box",
		[FILTER_HAMMING] = "hamming",
		[FILTER_NEAREST] = "nearest",
	};
	return names[filter];
}

/* Returns the fill colour, or black if no pixels are added. */
static const uint8_t *fill_of(const struct preparation *preparation)
{
	static const uint8_t black[3];
	bool adds = preparation->crop_width || preparation->pad_width ||
		    preparation->pad_square;
	return adds ? preparation->fill : black;
}

static bool same_array(const struct prepared_array *a, const struct prepared_array *b)
{
	return a == b || (a && b && strcmp(a->identity, b->identity) == 0);
}

bool preparation_equal(const struct preparation *a, const struct preparation *b)
{
	return same_array(a->array, b->array) && a->encoded == b->encoded &&
	       (a->encoded || a->channels == b->channels) && a->frames == b->frames &&
	       a->resize_short == b->resize_short && a->resize_long == b->resize_long &&
	       a->pad_width == b->pad_width && a->pad_height == b->pad_height &&
	       a->pad_square == b->pad_square &&
	       memcmp(fill_of(a), fill_of(b), sizeof(a->fill)) == 0 &&
	       a->resize_width == b->resize_width &&
	       a->resize_height == b->resize_height && a->crop_width == b->crop_width &&
	       a->crop_height == b->crop_height && approximates(a) == approximates(b) &&
	       orients(a) == orients(b) && fills(a) == fills(b) &&
	       filter_of(a) == filter_of(b) && sections_equal(a->sections, b->sections);
}

#define MOST_TEXT 240 /* enough for a preparation without its sections */
_Static_assert(
	PREPARATION_TEXT >=
		MOST_TEXT + SECTIONS_MOST * (MOST_TEXT + SECTION_NAME + 4) + SECTION_FROM,
	"all sections have room");

static void print_one(const struct preparation *preparation, char ret[static MOST_TEXT])
{
	static const char *const channels[] = {[CHANNELS_RGB] = "rgb",
		[CHANNELS_GRAY] = "gray",
		[CHANNELS_KEEP] = "keep"};
	char size[32] = "no";
	if (preparation->array) {
		snprintf(ret, MOST_TEXT, "program=%s", preparation->array->identity);
		return;
	}
	if (preparation->resize_long)
		snprintf(size, sizeof(size), "max:%" PRIu32, preparation->resize_long);
	else if (preparation->resize_short)
		snprintf(size, sizeof(size), "%" PRIu32, preparation->resize_short);
	else if (preparation->resize_width)
		snprintf(size, sizeof(size), "%" PRIu32 "x%" PRIu32,
			preparation->resize_width, preparation->resize_height);
	const uint8_t *fill = fill_of(preparation);
	snprintf(ret, MOST_TEXT,
		"format=%s resize=%s crop=%" PRIu32 "x%" PRIu32 " pad=%" PRIu32
		"x%" PRIu32 "%s fill=%u,%u,%u accuracy=%s exif=%s filter=%s%s",
		preparation->encoded ? "source" : channels[preparation->channels], size,
		preparation->crop_width, preparation->crop_height, preparation->pad_width,
		preparation->pad_height, preparation->pad_square ? ",square" : "",
		fill[0], fill[1], fill[2], approximates(preparation) ? "approx" : "exact",
		orients(preparation) ? "apply" : "ignore",
		resample_filter_name(filter_of(preparation)),
		fills(preparation) ? " truncated=fill" : "");
	size_t n = strlen(ret);
	if (preparation->frames)
		snprintf(ret + n, MOST_TEXT - n, " frames=%" PRIu32, preparation->frames);
}

void preparation_print(
	const struct preparation *preparation, char ret[static PREPARATION_TEXT])
{
	const struct tensor_sections *sections = preparation->sections;
	print_one(preparation, ret);
	for (size_t i = 0; sections && i < sections->n; i++) {
		const struct tensor_section *section = &sections->section[i];
		char text[MOST_TEXT];
		size_t n = strlen(ret);
		print_one(&section->preparation, text);
		snprintf(ret + n, PREPARATION_TEXT - n, " [%s] %s%s%s", section->name,
			text, *sections->from ? " from=" : "", sections->from);
	}
}

struct tensor_shape preparation_image(const struct preparation *preparation,
	struct tensor_shape image, unsigned orientation)
{
	if (!orients(preparation) || orientation < 5)
		return image;
	return (struct tensor_shape){
		.height = image.width, .width = image.height, .mode = image.mode};
}

/* Returns the size to which torchvision.transforms.functional._compute_resized_output_size resizes
 * an image if its size argument is an int. A side that does not fit into 32 bits becomes
 * UINT32_MAX, which callers refuse. */
static struct tensor_shape resize_short_side(uint32_t size, struct tensor_shape image)
{
	bool tall = image.width <= image.height;
	uint64_t shorter = tall ? image.width : image.height;
	uint64_t longer = tall ? image.height : image.width;
	uint64_t length = shorter ? size * longer / shorter : 0;
	uint32_t other = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
	return tall ? (struct tensor_shape){.height = other, .width = size}
		    : (struct tensor_shape){.height = size, .width = other};
}

/* Returns the size to which ultralytics' LetterBox resizes an image. Each side of the result is
 * round(side * min(N / height, N / width)), where N is `size`. */
static struct tensor_shape resize_long_side(uint32_t size, struct tensor_shape image)
{
	bool tall = image.width <= image.height;
	uint32_t longer = tall ? image.height : image.width;
	double ratio = longer ? (double)size / longer : 0;
	double length = rint((tall ? image.width : image.height) * ratio);
	uint32_t other = length < 1 ? 1 : (uint32_t)length;
	return tall ? (struct tensor_shape){.height = size, .width = other}
		    : (struct tensor_shape){.height = other, .width = size};
}

struct tensor_shape preparation_resized(
	const struct preparation *preparation, struct tensor_shape image)
{
	if (preparation->resize_long)
		return resize_long_side(preparation->resize_long, image);
	if (preparation->resize_short)
		return resize_short_side(preparation->resize_short, image);
	if (preparation->resize_width)
		return (struct tensor_shape){.height = preparation->resize_height,
			.width = preparation->resize_width};
	return image;
}

static struct tensor_shape cropped(
	const struct preparation *preparation, struct tensor_shape image)
{
	if (preparation->crop_width)
		return (struct tensor_shape){.height = preparation->crop_height,
			.width = preparation->crop_width};
	return image;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static struct tensor_shape padded(
	const struct preparation *preparation, struct tensor_shape image)
{
	uint32_t side = preparation->pad_square ? larger(image.height, image.width) : 0;
	return (struct tensor_shape){
		.height = larger(image.height, side ? side : preparation->pad_height),
		.width = larger(image.width, side ? side : preparation->pad_width)};
}

enum pixel_mode preparation_mode(
	const struct preparation *preparation, struct tensor_shape image)
{
	if (preparation->channels == CHANNELS_KEEP)
		return image.mode;
	return preparation->channels == CHANNELS_GRAY ? PIXELS_L : PIXELS_RGB;
}

struct tensor_shape preparation_output(
	const struct preparation *preparation, struct tensor_shape image)
{
	if (preparation->encoded)
		return (struct tensor_shape){0};
	if (preparation->array)
		return preparation->array->pixels;
	struct tensor_shape output = padded(preparation,
		cropped(preparation, preparation_resized(preparation, image)));
	output.mode = preparation_mode(preparation, image);
	output.frames = preparation->frames;
	return output;
}

void preparation_window(const struct preparation *preparation,
	struct tensor_shape resized, struct crop_axis *ret_rows,
	struct crop_axis *ret_columns)
{
	struct tensor_shape crop = cropped(preparation, resized);
	struct tensor_shape output = padded(preparation, crop);
	*ret_rows = crop_axis(resized.height, crop.height);
	*ret_columns = crop_axis(resized.width, crop.width);
	ret_rows->pad += (output.height - crop.height) / 2;
	ret_columns->pad += (output.width - crop.width) / 2;
}

uint64_t preparation_bytes(const struct preparation *preparation,
	struct tensor_shape image, uint64_t file_bytes)
{
	if (preparation->encoded)
		return file_bytes;
	if (preparation->array)
		return array_bytes(&preparation->array->type);
	return tensor_shape_bytes(preparation_output(preparation, image));
}

uint64_t preparation_most_pixels(
	const struct preparation *preparation, struct tensor_shape image)
{
	struct tensor_shape resized = preparation_resized(preparation, image);
	uint64_t before = (uint64_t)image.height * image.width;
	uint64_t after = (uint64_t)resized.height * resized.width;
	return before > after ? before : after;
}

bool preparation_fixed_size(const struct preparation *preparation)
{
	return preparation->array || preparation->crop_width ||
	       preparation->resize_width || preparation->pad_width ||
	       (preparation->resize_long && preparation->pad_square);
}
