// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/baseline/colour.h"
#include "image/baseline/scan.h"

/* Portable code for each step of decoding. Tests compare the vector code with it. */

static bool scan_row(struct scan *scan, const struct kernels *kernels, bool keep)
{
	return take_row(scan, kernels, keep);
}

/* Returns a sample that upsampling makes. nearest: the sum 3 * near + far of the two rows at the
 * nearest sample; beside: the same sum at the sample beside it; added: from struct chroma. */
static uint8_t upsample(int nearest, int beside, int added)
{
	return (uint8_t)((3 * nearest + beside + added) >> 4);
}

static void rgb_wide(
	const uint8_t *y, const struct chroma *chroma, uint32_t n, uint8_t *out)
{
	for (uint32_t i = 0; i < n; i += 2, out += 6) {
		uint8_t samples[2][2];
		for (int c = 0; c < 2; c++) {
			const uint8_t *near = chroma->near[c] + i / 2;
			const uint8_t *far = chroma->far[c] + i / 2;
			int here = 3 * near[0] + far[0];
			int before = 3 * near[-1] + far[-1],
			    behind = 3 * near[1] + far[1];
			samples[c][0] = upsample(here, before, chroma->added_even);
			samples[c][1] = upsample(here, behind, chroma->added_odd);
		}
		colour_rgb(y + i, samples[0], samples[1], n - i < 2 ? 1 : 2, out);
	}
}

const struct kernels kernels_plain = {
	.scan_row = scan_row,
	.transform = transform_checked,
	.rgb = colour_rgb,
	.rgb_wide = rgb_wide,
	.gray = colour_gray,
};
