// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/byte_order.h"
#include "image/image_internal.h"
#include "image/preamble.h"

#include <errno.h>
#include <string.h>

/* Checks the segments up to the first scan as PIL does. One difference: PIL also reads the
 * resolution in EXIF data, but joaderfs checks only the header of these data. */

enum { TABLES = 0xdb, APP0 = 0xe0, APP1, APP2, APP13 = 0xed, APP14, SCAN = 0xda };

struct segments {
	char *message;
	const uint8_t *next;
	const uint8_t *end;
	bool has_frame;
	bool has_resolution;
	bool has_exif;
	bool exif_bad;
	/* Describes the part of the ICC profile that PIL sorts first: twice the number of the part,
	 * plus 1 if bytes follow the number. -1: the part has no number. NO_PROFILE: the file has
	 * no profile. */
	int first_profile;
};

/* A part of an ICC profile has PROFILE_NAME bytes of name, then its number. PIL sorts parts by
 * number, and refuses the file if nothing follows the first part's number. */
#define NO_PROFILE 1024
#define PROFILE_NAME 12

static int refuse(const struct segments *segments, const char *what)
{
	return image_fail(segments->message, -EIO, "JPEG: bad %s", what);
}

static bool begins(const uint8_t *data, size_t size, const char *text, size_t bytes)
{
	return size >= bytes && memcmp(data, text, bytes) == 0;
}

static int check_jfif(struct segments *segments, const uint8_t *data, size_t size)
{
	if (size < 7)
		return refuse(segments, "JFIF segment");
	if (size >= 12 && data[7] == 1)
		segments->has_resolution = true;
	return 0;
}

/* Tells whether PIL refuses the TIFF header of EXIF data. PIL ignores data without a header. */
static bool tiff_header_bad(const uint8_t *data, size_t size)
{
	static const char headers[][4] = {"MM\0*", "II*\0", "MM*\0", "II\0*", "MM\0+"};
	if (begins(data, size, "II+\0", 4))
		return true;
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		if (begins(data, size, headers[i], 4))
			return size < 8;
	return false;
}

static void note_exif(struct segments *segments, const uint8_t *data, size_t size)
{
	if (segments->has_exif)
		return;
	segments->has_exif = true;
	segments->exif_bad =
		begins(data, size, "Exif\0\0", 6) && tiff_header_bad(data + 6, size - 6);
}

static void note_profile(struct segments *segments, const uint8_t *data, size_t size)
{
	int order = size == PROFILE_NAME ? -1 : data[PROFILE_NAME] * 2;
	if (size > PROFILE_NAME + 1)
		order++;
	if (order < segments->first_profile)
		segments->first_profile = order;
}

static int check_photoshop(struct segments *segments, const uint8_t *data, size_t size)
{
	size_t at = 14;
	while (at < size && begins(data + at, size - at, "8BIM", 4)) {
		at += 4;
		if (size - at < 2)
			break;
		bool resolution = get_be16(data + at) == 0x03ed;
		at += 2;
		if (at == size)
			return refuse(segments, "Photoshop segment");
		at += 1u + data[at];
		at += at & 1;
		if (at + 4 > size)
			break;
		size_t bytes = get_be32(data + at);
		at += 4;
		if (resolution && (bytes < 14 || size - at < 14))
			break;
		at += bytes;
		at += at & 1;
	}
	return 0;
}

static int check_application(
	struct segments *segments, unsigned marker, const uint8_t *data, size_t size)
{
	int err = 0;
	if (marker == APP0 && begins(data, size, "JFIF", 4))
		err = check_jfif(segments, data, size);
	else if (marker == APP1 && begins(data, size, "Exif\0", 5))
		note_exif(segments, data, size);
	else if (marker == APP2 && begins(data, size, "ICC_PROFILE\0", PROFILE_NAME))
		note_profile(segments, data, size);
	else if (marker == APP13 && begins(data, size, "Photoshop 3.0\0", 14))
		err = check_photoshop(segments, data, size);
	else if (marker == APP14 && begins(data, size, "Adobe", 5) && size < 7)
		err = refuse(segments, "Adobe segment");
	if (err || segments->has_resolution || !segments->has_exif)
		return err;
	segments->has_resolution = true;
	return segments->exif_bad ? refuse(segments, "EXIF segment") : 0;
}

static int check_frame(struct segments *segments, const uint8_t *data, size_t size)
{
	segments->has_frame = true;
	if (size < 6 || size % 3 != 0)
		return refuse(segments, "frame header");
	if (data[0] != 8)
		return image_fail(segments->message, -EIO,
			"JPEG: unsupported: not 8 bits per channel");
	if (data[5] != 1 && data[5] != 3 && data[5] != 4)
		return image_fail(segments->message, -EIO,
			"JPEG: unsupported: neither 1, 3 nor 4 channels");
	if (segments->first_profile != NO_PROFILE && segments->first_profile % 2 != 1)
		return refuse(segments, "ICC profile");
	segments->first_profile = NO_PROFILE;
	return 0;
}

static int check_tables(struct segments *segments, const uint8_t *data, size_t size)
{
	while (size > 0) {
		size_t table = data[0] / 16 == 0 ? 65 : 129;
		if (size < table)
			return refuse(segments, "quantization tables");
		data += table;
		size -= table;
	}
	return 0;
}

static bool is_frame(unsigned marker)
{
	return marker == 0xde || (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 &&
					 marker != 0xc8 && marker != 0xcc);
}

static bool has_length(unsigned marker)
{
	return marker != 0xc8 && !(marker >= 0xd0 && marker <= 0xd9) &&
	       !(marker >= 0xf0 && marker <= 0xfd);
}

static int check_segment(struct segments *segments, unsigned marker)
{
	if (!has_length(marker))
		return 0;
	size_t left = (size_t)(segments->end - segments->next);
	size_t size = left < 2 ? 0 : get_be16(segments->next);
	if (left < 2 || size > left)
		return image_fail(segments->message, -EIO, "JPEG: truncated");
	size = size < 2 ? 0 : size - 2;
	const uint8_t *data = segments->next + 2;
	segments->next = data + size;
	if (marker >= APP0 && marker <= APP0 + 15)
		return check_application(segments, marker, data, size);
	if (is_frame(marker))
		return check_frame(segments, data, size);
	return marker == TABLES ? check_tables(segments, data, size) : 0;
}

/* Returns the next marker, or -1 at the end of the file. A marker is the byte after one or more
 * bytes 0xff, unless this byte is 0. */
static int next_marker(struct segments *segments)
{
	while (segments->next < segments->end) {
		uint8_t byte = *segments->next++;
		if (byte != 0xff)
			continue;
		while (segments->next < segments->end && *segments->next == 0xff)
			segments->next++;
		if (segments->next == segments->end)
			break;
		byte = *segments->next++;
		if (byte != 0)
			return byte;
	}
	return -1;
}

int preamble_check_jpeg(char *message, const uint8_t *data, size_t size)
{
	struct segments segments = {
		.message = message,
		.next = data + 2,
		.end = data + size,
		.first_profile = NO_PROFILE,
	};
	int marker = 0, err = 0;
	while (!err && marker != SCAN) {
		marker = next_marker(&segments);
		if (marker < 0)
			return image_fail(message, -EIO, "JPEG: truncated");
		if (marker < 0xc0)
			return refuse(&segments, "marker");
		err = check_segment(&segments, (unsigned)marker);
	}
	return err || segments.has_frame ? err : refuse(&segments, "frame header");
}
