// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define MAX "max:"
#define PIXELS_RULE "N or WxH, each " RANGE_RULE

/* Parses N or WxH. *ret_height is 0 for a single N. */
static int parse_pixels(const struct option *option, const char *text,
	uint32_t *ret_width, uint32_t *ret_height)
{
	uint64_t width, height = 0;
	if (!value_digits(&text, &width) || !value_in_range(option, width))
		return -EINVAL;
	if (*text == 'x') {
		text++;
		if (!value_digits(&text, &height) || !value_in_range(option, height))
			return -EINVAL;
	}
	if (*text)
		return -EINVAL;
	*ret_width = (uint32_t)width;
	*ret_height = (uint32_t)height;
	return 0;
}

static int parse_resize(const struct value_input *in, void *field)
{
	const char *text = in->text;
	struct preparation *preparation = field;
	uint32_t width, height;
	bool longer = strncmp(text, MAX, strlen(MAX)) == 0;
	if (longer)
		text += strlen(MAX);
	if (parse_pixels(in->option, text, &width, &height) < 0 || (longer && height))
		return -EINVAL;
	preparation->resize_long = longer ? width : 0;
	preparation->resize_short = longer || height ? 0 : width;
	preparation->resize_width = height ? width : 0;
	preparation->resize_height = height;
	return 0;
}

/* Parses N, which stands for NxN, or WxH. */
static int parse_size(
	const struct value_input *in, uint32_t *ret_width, uint32_t *ret_height)
{
	int err = parse_pixels(in->option, in->text, ret_width, ret_height);
	if (!err && !*ret_height)
		*ret_height = *ret_width;
	return err;
}

static int parse_crop(const struct value_input *in, void *field)
{
	struct preparation *preparation = field;
	return parse_size(in, &preparation->crop_width, &preparation->crop_height);
}

static int parse_pad(const struct value_input *in, void *field)
{
	struct preparation *preparation = field;
	preparation->pad_square = strcmp(in->text, "square") == 0;
	return preparation->pad_square ? 0
				       : parse_size(in, &preparation->pad_width,
						 &preparation->pad_height);
}

/* Parses the colour of a fill. A single number stands for all three channels of the colour. */
static int parse_fill(const struct value_input *in, void *field)
{
	const char *text = in->text;
	uint8_t *fill = field;
	uint64_t numbers[3];
	size_t n = 0;
	do {
		text += strspn(text, " ");
		if (!value_digits(&text, &numbers[n]) ||
			!value_in_range(in->option, numbers[n++]))
			return -EINVAL;
	} while (n < 3 && *text == ' ');
	if (*text || n == 2)
		return -EINVAL;
	for (size_t i = 0; i < 3; i++)
		fill[i] = (uint8_t)numbers[n == 3 ? i : 0];
	return 0;
}

static int parse_shape(const struct value_input *in, void *field)
{
	struct tensor_shape *shape = field;
	return parse_size(in, &shape->width, &shape->height);
}

static void print_resize(const struct option *option, const void *field, FILE *out)
{
	const struct preparation *p = field;
	if (p->resize_long)
		fprintf(out, "%s = " MAX "%" PRIu32 "\n", option->key, p->resize_long);
	else if (p->resize_short)
		fprintf(out, "%s = %" PRIu32 "\n", option->key, p->resize_short);
	else if (p->resize_width)
		fprintf(out, "%s = %" PRIu32 "x%" PRIu32 "\n", option->key,
			p->resize_width, p->resize_height);
}

static void print_crop(const struct option *option, const void *field, FILE *out)
{
	const struct preparation *p = field;
	if (p->crop_width)
		fprintf(out, "%s = %" PRIu32 "x%" PRIu32 "\n", option->key, p->crop_width,
			p->crop_height);
}

static void print_pad(const struct option *option, const void *field, FILE *out)
{
	const struct preparation *p = field;
	if (p->pad_square)
		fprintf(out, "%s = square\n", option->key);
	else if (p->pad_width)
		fprintf(out, "%s = %" PRIu32 "x%" PRIu32 "\n", option->key, p->pad_width,
			p->pad_height);
}

static void print_fill(const struct option *option, const void *field, FILE *out)
{
	const uint8_t *fill = field;
	fprintf(out, "%s = %u", option->key, fill[0]);
	if (fill[1] != fill[0] || fill[2] != fill[0])
		fprintf(out, " %u %u", fill[1], fill[2]);
	fputc('\n', out);
}

static void print_shape(const struct option *option, const void *field, FILE *out)
{
	const struct tensor_shape *shape = field;
	if (shape->width)
		fprintf(out, "%s = %" PRIu32 "x%" PRIu32 "\n", option->key, shape->width,
			shape->height);
}

const struct value_type value_resize = {"pixels", false, parse_resize, print_resize,
	"N, " MAX "N or WxH, each " RANGE_RULE};
const struct value_type value_crop = {
	"pixels", false, parse_crop, print_crop, PIXELS_RULE};
const struct value_type value_shape = {
	"pixels", false, parse_shape, print_shape, PIXELS_RULE};

const struct value_type value_pad = {
	"pixels", false, parse_pad, print_pad, "square, or " PIXELS_RULE};
const struct value_type value_fill = {"colour", false, parse_fill, print_fill,
	"a number, or three for red, green and blue, each " RANGE_RULE};
