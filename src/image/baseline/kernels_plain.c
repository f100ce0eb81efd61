// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/baseline/colour.h"
#include "image/baseline/scan.h"

/* The code for every processor. */

static bool scan_row(
	struct scan *scan, const struct kernels *kernels, uint32_t row, bool keep)
{
	return take_row(scan, kernels, row, keep);
}

static void upsample_h2v1(const uint8_t *in, uint32_t n, uint8_t *out)
{
	for (uint32_t i = 0; i < n; i++, in++, out += 2) {
		out[0] = (uint8_t)((3 * in[0] + in[-1] + 1) >> 2);
		out[1] = (uint8_t)((3 * in[0] + in[1] + 2) >> 2);
	}
}

static void upsample_h2v2(
	const uint8_t *near, const uint8_t *far, uint32_t n, uint8_t *out)
{
	int before = 3 * near[-1] + far[-1], here = 3 * near[0] + far[0];
	for (uint32_t i = 0; i < n; i++, out += 2) {
		int behind = 3 * near[i + 1] + far[i + 1];
		out[0] = (uint8_t)((3 * here + before + 8) >> 4);
		out[1] = (uint8_t)((3 * here + behind + 7) >> 4);
		before = here;
		here = behind;
	}
}

const struct kernels kernels_plain = {
	.scan_row = scan_row,
	.transform = transform_checked,
	.upsample_h2v1 = upsample_h2v1,
	.upsample_h2v2 = upsample_h2v2,
	.rgb = colour_rgb,
	.gray = colour_gray,
};
