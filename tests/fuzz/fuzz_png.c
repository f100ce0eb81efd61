// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image.h"

#include <png.h>
#include <zlib.h>

/* PNG files, examined and prepared. Most mutations get right checksums: else
 * only the checksums would be tested. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(
	uint8_t *data, size_t size, size_t max_size, unsigned int seed);

static void correct_checksums(uint8_t *data, size_t size)
{
	size_t at = 8;
	while (size >= 12 && at <= size - 12) {
		uint32_t length = png_get_uint_32(data + at);
		if (length > size - 12 - at)
			break;
		uint32_t crc = (uint32_t)crc32(0, data + at + 4, length + 4);
		png_save_uint_32(data + at + 8 + length, crc);
		at += (size_t)length + 12;
	}
}

size_t LLVMFuzzerCustomMutator(
	uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	size = LLVMFuzzerMutate(data, size, max_size);
	if (seed % 8 != 0)
		correct_checksums(data, size);
	return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_image(data, size);
	return 0;
}
