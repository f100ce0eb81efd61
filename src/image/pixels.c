// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/pixels.h"
#include "image/plain.h"

#include <string.h>

/* Makes the scale for rows in which the number at index i belongs to channel first + i * step,
 * modulo `channels`. Means and deviations become floats, as in torchvision. */
static struct pixels_scale make_scale(const struct normalize_config *normalize,
	unsigned first, unsigned step, unsigned channels)
{
	struct pixels_scale scale = {.identity = !normalize->given};
	for (unsigned i = 0; i < PIXELS_PERIOD; i++) {
		unsigned channel =
			normalize->channels == 1 ? 0 : (first + i * step) % channels;
		scale.mean[i] = normalize->given ? (float)normalize->mean[channel] : 0.0f;
		scale.deviation[i] =
			normalize->given ? (float)normalize->deviation[channel] : 1.0f;
	}
	return scale;
}

struct pixels_scale pixels_scale_row(
	const struct normalize_config *normalize, unsigned channels)
{
	return make_scale(normalize, 0, 1, channels);
}

struct pixels_scale pixels_scale_plane(
	const struct normalize_config *normalize, unsigned channel)
{
	return make_scale(normalize, channel, 0, MOST_CHANNELS);
}

static void mirror(const uint8_t *in, size_t width, uint8_t *out)
{
	out += width * 3;
	for (size_t x = 0; x < width; x++, in += 3) {
		out -= 3;
		out[0] = in[0];
		out[1] = in[1];
		out[2] = in[2];
	}
}

static void split(const uint8_t *in, size_t width, uint8_t *const out[3])
{
	for (size_t x = 0; x < width; x++, in += 3) {
		out[0][x] = in[0];
		out[1][x] = in[1];
		out[2][x] = in[2];
	}
}

/* Converts bytes to floats, and normalizes them. An identity scale is no special case, because its
 * mean 0 and deviation 1 have no effect. */
static void to_float32(
	const uint8_t *in, size_t n, const struct pixels_scale *scale, float *out)
{
	size_t i = 0;
	for (; i + PIXELS_PERIOD <= n; i += PIXELS_PERIOD)
		for (size_t k = 0; k < PIXELS_PERIOD; k++)
			out[i + k] = ((float)in[i + k] / 255.0f - scale->mean[k]) /
				     scale->deviation[k];
	for (size_t k = 0; i < n; i++, k++)
		out[i] = ((float)in[i] / 255.0f - scale->mean[k]) / scale->deviation[k];
}

uint16_t pixels_half(float number)
{
	uint32_t bits;
	memcpy(&bits, &number, sizeof(bits));
	uint32_t sign = bits >> 16 & 0x8000;
	uint32_t magnitude = bits & 0x7fffffff;
	/* a NaN becomes a quiet NaN with the same leading bits */
	if (magnitude > 0x7f800000)
		return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x1ff));
	if (magnitude >= 0x477ff000) /* 65520 and more become infinity */
		return (uint16_t)(sign | 0x7c00);
	if (magnitude < 0x38800000) {
		/* 16-bit floats below 2^-14 are multiples of 2^-24, and so are 32-bit floats from
		 * 1/2 to 1. So the addition of 1/2 rounds the number to a 16-bit float, which is
		 * then in the low bits of the sum. */
		float shifted, half = 0.5f;
		uint32_t base;
		memcpy(&shifted, &magnitude, sizeof(shifted));
		shifted += half;
		memcpy(&magnitude, &shifted, sizeof(magnitude));
		memcpy(&base, &half, sizeof(base));
		return (uint16_t)(sign | (magnitude - base));
	}
	uint32_t odd = magnitude >> 13 & 1;
	magnitude += 0xfff + odd;		 /* rounds to nearest even */
	magnitude -= (UINT32_C(127) - 15) << 23; /* corrects the exponent's bias */
	return (uint16_t)(sign | magnitude >> 13);
}

void pixels_mirror(
	struct tensor_shape shape, const uint8_t *in, size_t width, uint8_t *out)
{
	size_t bytes = tensor_pixel_bytes(shape);
	out += width * bytes;
	for (size_t x = 0; x < width; x++, in += bytes)
		memcpy(out -= bytes, in, bytes);
}

void pixels_take_channel(struct tensor_shape shape, const uint8_t *in, size_t width,
	size_t channel, uint8_t *out)
{
	size_t bytes = tensor_number_bytes(shape), pixel = tensor_pixel_bytes(shape);
	in += channel * bytes;
	for (size_t x = 0; x < width; x++, in += pixel, out += bytes)
		memcpy(out, in, bytes);
}

static float number_at(enum pixel_mode mode, const uint8_t *in, size_t i)
{
	uint16_t whole;
	float real;
	switch (pixel_modes[mode].bytes) {
	case 2:
		memcpy(&whole, in + 2 * i, sizeof(whole));
		return (float)whole / 65535.0f;
	case 4:
		memcpy(&real, in + 4 * i, sizeof(real));
		return real;
	default: /* a palette index */
		return (float)in[i];
	}
}

void pixels_to_float32(enum pixel_mode mode, const uint8_t *in, size_t n,
	const struct pixels_scale *scale, float *out)
{
	if (pixel_modes[mode].bytes == 1 && mode != PIXELS_P) {
		to_float32(in, n, scale, out);
		return;
	}
	for (size_t i = 0, k = 0; i < n; i++, k = (k + 1) % PIXELS_PERIOD) {
		float number = number_at(mode, in, i);
		out[i] = scale->identity
				 ? number
				 : (number - scale->mean[k]) / scale->deviation[k];
	}
}

void pixels_to_float16(enum pixel_mode mode, const uint8_t *in, size_t n,
	const struct pixels_scale *scale, uint16_t *out)
{
	size_t bytes = pixel_modes[mode].bytes;
	float numbers[PIXELS_PERIOD];
	while (n > 0) {
		size_t part = n < PIXELS_PERIOD ? n : PIXELS_PERIOD;
		pixels_to_float32(mode, in, part, scale, numbers);
		for (size_t i = 0; i < part; i++)
			*out++ = pixels_half(numbers[i]);
		in += part * bytes;
		n -= part;
	}
}

static void to_float16(
	const uint8_t *in, size_t n, const struct pixels_scale *scale, uint16_t *out)
{
	pixels_to_float16(PIXELS_RGB, in, n, scale, out);
}

const struct pixels pixels_plain = {mirror, split, to_float32, to_float16};

const struct pixels *pixels_best(void)
{
	const struct pixels *avx2 = plain_is_asked_for() ? NULL : pixels_avx2();
	return avx2 ? avx2 : &pixels_plain;
}
