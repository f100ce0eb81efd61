// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image.h"

/* BMP, GIF, PPM, TIFF and WebP files, examined and prepared. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_image(data, size);
	return 0;
}
