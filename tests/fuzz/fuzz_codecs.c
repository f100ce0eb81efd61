// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image.h"

/* Examines and prepares BMP, GIF, PPM, TIFF and WebP files. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_image(data, size);
	return 0;
}
