// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/image_internal.h"
#include "image/raw.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Decodes PPM, PGM and PBM like Pillow's PpmImagePlugin, but not files with numbers as text (P1 to
 * P3). */

#define SPACES " \t\n\v\f\r"
#define MOST_DIGITS 10

struct ppm {
	char *message;
	const uint8_t *data;
	size_t size, at;
	uint32_t width, height, most;
	uint8_t kind; /* '4' to '6', the digit of the magic P4 to P6 */
	bool keep;
};

static int refuse(struct ppm *ppm, const char *text)
{
	return image_fail(ppm->message, -EIO, "PPM: %s", text);
}

static bool is_space(uint8_t byte)
{
	return byte && strchr(SPACES, byte);
}

static void skip_comment(struct ppm *ppm)
{
	while (ppm->at < ppm->size) {
		uint8_t byte = ppm->data[ppm->at++];
		if (byte == '\n' || byte == '\r')
			return;
	}
}

/* Reads a number, and one space after the number. Skips comments and leading spaces. */
static int read_number(struct ppm *ppm, uint32_t *ret)
{
	uint64_t number = 0;
	unsigned digits = 0;
	while (ppm->at < ppm->size) {
		uint8_t byte = ppm->data[ppm->at++];
		if (byte == '#') {
			skip_comment(ppm);
		} else if (is_space(byte)) {
			if (digits)
				break;
		} else if (byte < '0' || byte > '9' || ++digits > MOST_DIGITS) {
			return refuse(ppm, "bad header");
		} else {
			number = number * 10 + (uint64_t)(byte - '0');
		}
	}
	*ret = (uint32_t)number;
	return digits == 0 || number > INT32_MAX ? refuse(ppm, "bad header") : 0;
}

static enum pixel_mode mode_of(const struct ppm *ppm)
{
	if (ppm->kind == '6')
		return ppm->most > 255 ? PIXELS_RGB16 : PIXELS_RGB;
	return ppm->most > 255 ? PIXELS_L16 : PIXELS_L;
}

static int open_image(
	void *state, const struct codec_input *input, struct tensor_shape *ret)
{
	struct ppm *ppm = state;
	const uint8_t *data = input->data;
	*ppm = (struct ppm){.message = input->message,
		.data = data,
		.size = input->size,
		.at = 3,
		.keep = input->keep};
	if (ppm->size < 3 || data[1] < '4' || data[1] > '6' || !is_space(data[2]))
		return refuse(ppm, "not binary");
	ppm->kind = data[1];
	ppm->most = 1;
	int err = read_number(ppm, &ppm->width);
	if (!err)
		err = read_number(ppm, &ppm->height);
	if (!err && ppm->kind != '4')
		err = read_number(ppm, &ppm->most);
	if (!err && (ppm->width == 0 || ppm->height == 0))
		err = refuse(ppm, "no pixels");
	if (!err && (ppm->most == 0 || ppm->most > 65535))
		err = refuse(ppm, "bad greatest value");
	*ret = (struct tensor_shape){
		.height = ppm->height, .width = ppm->width, .mode = mode_of(ppm)};
	return err;
}

/* Returns the value, scaled to 8 bits, or to 16 bits if two conditions hold: the file's values have
 * more than 8 bits; the image is gray, or its channels are kept. */
static unsigned scaled(const struct ppm *ppm, uint32_t value)
{
	bool wide = ppm->most > 255 && (ppm->keep || ppm->kind == '5');
	unsigned most = wide ? 65535 : 255;
	double result = nearbyint((double)value / ppm->most * most);
	return result > most ? most : (unsigned)result;
}

static void put_number(const struct ppm *ppm, unsigned value, size_t i, uint8_t *pixels)
{
	/* The pixels have 16 bits only if channels are kept. Otherwise numbers of 16 bits, which
	 * gray files have, are limited to 255. */
	if (ppm->keep && ppm->most > 255)
		memcpy(pixels + 2 * i, &(uint16_t){(uint16_t)value}, 2);
	else
		pixels[i] = (uint8_t)(value > 255 ? 255 : value);
}

static int read_scaled(struct ppm *ppm, uint8_t *pixels)
{
	size_t bytes = ppm->most < 256 ? 1 : 2, channels = ppm->kind == '5' ? 1 : 3;
	size_t copies = channels == 1 && !ppm->keep ? 3 : 1;
	uint64_t n = (uint64_t)ppm->width * ppm->height * channels;
	const uint8_t *in = ppm->data + ppm->at;
	if (n * bytes > ppm->size - ppm->at)
		return refuse(ppm, "truncated");
	for (uint64_t i = 0; i < n; i++, in += bytes)
		for (size_t k = 0; k < copies; k++)
			put_number(ppm,
				scaled(ppm, bytes == 1 ? in[0] : in[0] * 256u + in[1]),
				i * copies + k, pixels);
	return 0;
}

static int read_image(void *state, uint8_t *pixels)
{
	struct ppm *ppm = state;
	struct raw_image image = {.width = ppm->width, .height = ppm->height};
	if (ppm->keep)
		image.mode = mode_of(ppm);
	if (ppm->kind == '4')
		image.kind = RAW_BIT_INK;
	else if (ppm->most == 255)
		image.kind = ppm->kind == '5' ? RAW_GRAY : RAW_RGB;
	else if (ppm->most == 65535 && ppm->kind == '5')
		image.kind = RAW_GRAY16;
	else
		return read_scaled(ppm, pixels);
	return raw_unpack(&image, ppm->data + ppm->at, ppm->size - ppm->at, pixels)
		       ? 0
		       : refuse(ppm, "truncated");
}

static bool knows(const uint8_t *data, size_t size)
{
	return size >= 3 && data[0] == 'P' && data[1] >= '4' && data[1] <= '6' &&
	       is_space(data[2]);
}

const struct codec codec_ppm = {
	.knows = knows,
	.head_bytes = 1 << 20,
	.keeps = true,
	.state_bytes = sizeof(struct ppm),
	.open = open_image,
	.read = read_image,
};
