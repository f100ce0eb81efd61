// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/image_internal.h"

#include <errno.h>
#include <string.h>

/* Formats that no build of joaderfs can decode, or that this build may lack. */
static const struct {
	const char *name;
	size_t offset;
	size_t bytes;
	const char *magic;
} unsupported[] = {
	{"webp", 8, 4, "WEBP"},
	{"tiff", 0, 4, "II*\0"},
	{"tiff", 0, 4, "MM\0*"},
	{"heif or avif", 4, 4, "ftyp"},
	{"jpeg 2000", 4, 4, "jP  "},
	{"jpeg 2000", 0, 4, "\xff\x4f\xff\x51"},
	{"jpeg xl", 4, 4, "JXL "},
	{"jpeg xl", 0, 2, "\xff\x0a"},
	{"psd", 0, 4, "8BPS"},
	{"pbm as text", 0, 2, "P1"},
	{"pgm as text", 0, 2, "P2"},
	{"ppm as text", 0, 2, "P3"},
};

int image_fail_unknown(char *message, const uint8_t *data, size_t size)
{
	if (size == 0)
		return image_fail(message, -EIO, "empty file");
	for (size_t i = 0; i < sizeof(unsupported) / sizeof(unsupported[0]); i++) {
		size_t end = unsupported[i].offset + unsupported[i].bytes;
		if (size >= end &&
			memcmp(data + unsupported[i].offset, unsupported[i].magic,
				unsupported[i].bytes) == 0)
			return image_fail(
				message, -EIO, "unsupported: %s", unsupported[i].name);
	}
	return image_fail(message, -EIO, "not an image");
}
