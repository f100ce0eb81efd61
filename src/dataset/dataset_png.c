// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/byte_order.h"
#include "base/escape.h"
#include "dataset/dataset_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

/*
 * Finds the orientation of a PNG as Pillow's ImageOps.exif_transpose does: in the EXIF data of the
 * chunk eXIf; without this chunk, in the EXIF data of the text "Raw profile type exif", which
 * ImageMagick writes as hexadecimal digits; if the EXIF data has no orientation, in the text of
 * XMP. The last chunk of each kind counts. Unlike Pillow, ignores chunks after the image data: no
 * program writes them there, and a search would read the whole file.
 */

/* Bytes of the largest chunk that is read; no camera writes a larger one. */
#define MOST_CHUNK ((uint32_t)1 << 20)
#define MOST_TEXT ((size_t)1 << 20) /* largest inflated text in bytes, as in Pillow */
#define RAW_PROFILE "Raw profile type exif"
#define XMP "XML:com.adobe.xmp"

struct text {
	char *data; /* ends with \0; NULL: none */
	size_t size;
};

struct profiles {
	struct text exif, raw, xmp;
};

static void take(struct text *into, struct text text)
{
	free(into->data);
	*into = text;
}

static struct text copy(const char *data, size_t size)
{
	struct text text = {.data = malloc(size + 1), .size = size};
	if (text.data) {
		memcpy(text.data, data, size);
		text.data[size] = '\0';
	}
	return text;
}

/* Inflates a text. If the stream is cut off, or inflates to more than MOST_TEXT bytes, *ret has the
 * beginning of the text. Returns false if the stream is damaged. */
static bool unpack(const char *data, size_t size, struct text *ret)
{
	z_stream stream = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size};
	*ret = (struct text){.data = malloc(MOST_TEXT + 1)};
	if (!ret->data || inflateInit(&stream) != Z_OK)
		return false;
	stream.next_out = (Bytef *)ret->data;
	stream.avail_out = MOST_TEXT;
	int code = inflate(&stream, Z_SYNC_FLUSH);
	ret->size = stream.total_out;
	ret->data[ret->size] = '\0';
	inflateEnd(&stream);
	return code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR;
}

static bool is_utf8(struct text text)
{
	uint32_t character;
	for (unsigned n, at = 0; at < text.size; at += n)
		if ((n = utf8_read(text.data + at, &character)) == 0)
			return false;
	return true;
}

/* Parses the part of a chunk iTXt behind the chunk's keyword. This part consists of a byte that
 * tells whether the text is compressed, a byte for the method, the language with a \0, the
 * translated keyword with a \0, and the text. */
static bool read_international(const char *data, size_t size, struct text *ret)
{
	const char *end = data + size, *at = data + 2;
	for (int i = 0; i < 2; i++) {
		at = size < 2 ? NULL : memchr(at, '\0', (size_t)(end - at));
		if (!at)
			return false;
		at++;
	}
	if (data[0] && data[1])
		return false;
	bool read = data[0] ? unpack(at, (size_t)(end - at), ret)
			    : (*ret = copy(at, (size_t)(end - at))).data != NULL;
	return read && is_utf8(*ret);
}

static bool read_text(const char *type, const char *data, size_t size, struct text *ret)
{
	if (type[0] == 'i')
		return read_international(data, size, ret);
	if (type[0] == 't')
		return (*ret = copy(data, size)).data != NULL;
	if (size > 0 && data[0] == 0 && unpack(data + 1, size - 1, ret))
		return true;
	free(ret->data); /* A damaged text counts as an empty text, as in Pillow. */
	return (*ret = copy("", 0)).data != NULL;
}

static void note_chunk(struct profiles *found, const char *type, struct text chunk)
{
	struct text text = {0};
	if (memcmp(type, "eXIf", 4) == 0) {
		take(&found->exif, copy(chunk.data, chunk.size));
		return;
	}
	size_t key = strlen(chunk.data) + 1;
	bool raw = strcmp(chunk.data, RAW_PROFILE) == 0;
	if (key > chunk.size || (!raw && strcmp(chunk.data, XMP) != 0))
		return;
	if (read_text(type, chunk.data + key, chunk.size - key, &text))
		take(raw ? &found->raw : &found->xmp, text);
	else
		free(text.data);
}

static bool is_wanted(const char *type)
{
	return memcmp(type, "eXIf", 4) == 0 || memcmp(type, "tEXt", 4) == 0 ||
	       memcmp(type, "zTXt", 4) == 0 || memcmp(type, "iTXt", 4) == 0;
}

static void read_chunks(FILE *file, struct profiles *found)
{
	char head[8];
	while (fread(head, 1, sizeof(head), file) == sizeof(head) &&
		memcmp(head + 4, "IDAT", 4) != 0 && memcmp(head + 4, "IEND", 4) != 0) {
		uint32_t bytes = get_be32((const uint8_t *)head), skip = bytes;
		if (bytes > INT32_MAX)
			break;
		if (is_wanted(head + 4) && bytes <= MOST_CHUNK) {
			auto_free char *data = malloc(bytes + 1u);
			if (!data || fread(data, 1, bytes, file) != bytes)
				break;
			data[bytes] = '\0';
			note_chunk(found, head + 4, (struct text){data, bytes});
			skip = 0;
		}
		if (fseek(file, (long)skip + 4, SEEK_CUR) != 0)
			break;
	}
}

/* Turns the hexadecimal digits from the fourth line on into bytes. Skips white space between bytes.
 * Returns false if there are other characters, or an odd number of digits. */
static bool from_digits(struct text *text)
{
	char *out = text->data, *at = text->data;
	for (int i = 0; i < 3 && at; i++) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	text->size = 0;
	int high = -1;
	for (; at && *at; at++) {
		if (*at == '\n' || (high < 0 && isspace((unsigned char)*at)))
			continue;
		if (!isxdigit((unsigned char)*at))
			return false;
		if (high >= 0)
			out[text->size++] = (char)(high << 4 | hexadecimal(*at));
		high = high < 0 ? hexadecimal(*at) : -1;
	}
	return high < 0;
}

static uint32_t orientation_of(struct text exif)
{
	size_t skip = exif.size >= 6 && memcmp(exif.data, "Exif\0\0", 6) == 0 ? 6 : 0;
	return exif_find_orientation((const uint8_t *)exif.data + skip, exif.size - skip);
}

/* Reads the digit in tiff:Orientation="6" or <tiff:Orientation>6; 0: there is none. */
static uint32_t orientation_of_xmp(const char *text)
{
	static const char name[] = "tiff:Orientation";
	for (const char *at = text; (at = strstr(at, name)); at++) {
		const char *value = at + strlen(name);
		value += *value == '>' ? 1 : strncmp(value, "=\"", 2) == 0 ? 2 : 0;
		if (value[-1] != 'n' && isdigit((unsigned char)*value))
			return (uint32_t)(*value - '0');
	}
	return 0;
}

uint8_t png_orientation(FILE *file)
{
	struct profiles found = {0};
	uint32_t orientation = 0;
	read_chunks(file, &found);
	if (found.exif.data)
		orientation = orientation_of(found.exif);
	else if (found.raw.data && !from_digits(&found.raw))
		/* The text has other characters than digits: there is no orientation, as in
		 * Pillow. */
		orientation = 1;
	else if (found.raw.data)
		orientation = orientation_of(found.raw);
	if (orientation == 0 && found.xmp.data)
		orientation = orientation_of_xmp(found.xmp.data);
	free(found.exif.data);
	free(found.raw.data);
	free(found.xmp.data);
	return orientation >= 1 && orientation <= 8 ? (uint8_t)orientation : 1;
}
