// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/image_internal.h"
#include "image/resample_internal.h"

void alpha_multiply(const uint8_t *in, size_t pixels, size_t channels, uint8_t *out)
{
	for (size_t i = 0; i < pixels; i++, in += channels, out += channels) {
		uint8_t alpha = in[channels - 1];
		for (size_t c = 0; c + 1 < channels; c++)
			out[c] = times_of_255(in[c], alpha);
		out[channels - 1] = alpha;
	}
}

void alpha_divide(uint8_t *pixel, size_t pixels, size_t channels)
{
	for (size_t i = 0; i < pixels; i++, pixel += channels) {
		unsigned alpha = pixel[channels - 1];
		for (size_t c = 0; c + 1 < channels && alpha != 0 && alpha != 255; c++) {
			unsigned value = 255 * pixel[c] / alpha;
			pixel[c] = (uint8_t)(value > 255 ? 255 : value);
		}
	}
}
