// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_internal.h"

#include <string.h>

/* Finds the orientation in a TIFF directory as PIL's ImageOps.exif_transpose does: the first value
 * of the last entry with TAG_ORIENTATION counts, and nothing is read after a damaged entry. */

#define TAG_ORIENTATION 0x0112
#define ENTRY_BYTES 12

struct tiff {
	const uint8_t *data;
	size_t size;
	bool little_endian;
};

/* Bytes of a value of each TIFF type; 0: unknown type. */
static const uint8_t value_bytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8};

static uint32_t number(const struct tiff *tiff, size_t at, unsigned bytes)
{
	uint32_t value = 0;
	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 |
			tiff->data[tiff->little_endian ? at + bytes - 1 - i : at + i];
	return value;
}

static bool is_integer(unsigned type)
{
	return type == 3 || type == 4 || type == 6 || type == 8 || type == 9 ||
	       type == 13;
}

/* Turns an invalid orientation into 1. 0 would mean that there is no orientation. */
static uint32_t known(uint32_t orientation)
{
	return orientation >= 1 && orientation <= 8 ? orientation : 1;
}

/* Returns false if the entry or its values lie outside the data. */
static bool read_entry(const struct tiff *tiff, size_t at, uint32_t *orientation)
{
	if (at > tiff->size || tiff->size - at < ENTRY_BYTES)
		return false;
	unsigned tag = number(tiff, at, 2), type = number(tiff, at + 2, 2);
	unsigned one = type < sizeof(value_bytes) ? value_bytes[type] : 0;
	uint64_t bytes = (uint64_t)number(tiff, at + 4, 4) * one;
	size_t values = bytes > 4 ? number(tiff, at + 8, 4) : at + 8;
	if (bytes == 0)
		return true;
	if (bytes > tiff->size || values > tiff->size - bytes)
		return false;
	if (tag == TAG_ORIENTATION)
		*orientation = known(is_integer(type) ? number(tiff, values, one) : 1);
	return true;
}

static bool read_head(struct tiff *tiff)
{
	static const char heads[][4] = {"MM\0*", "II*\0", "MM*\0", "II\0*", "MM\0+"};
	if (tiff->size < 8)
		return false;
	tiff->little_endian = tiff->data[0] == 'I';
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (memcmp(tiff->data, heads[i], 4) == 0)
			return true;
	return false;
}

uint32_t exif_find_orientation(const uint8_t *data, size_t size)
{
	struct tiff tiff = {.data = data, .size = size};
	uint32_t orientation = 0;
	if (!read_head(&tiff))
		return orientation;
	size_t at = number(&tiff, 4, 4);
	if (at > size || size - at < 2)
		return orientation;
	unsigned entries = number(&tiff, at, 2);
	for (at += 2; entries && read_entry(&tiff, at, &orientation); at += ENTRY_BYTES)
		entries--;
	return orientation;
}

uint8_t exif_orientation(const uint8_t *data, size_t size)
{
	return (uint8_t)known(exif_find_orientation(data, size));
}
