// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "load_images.h"

#include <zlib.h>

/* An image is refused if PIL refuses its preamble, and accepted if PIL ignores a mistake there. */

#define SHAPE ((struct tensor_shape){.height = 11, .width = 19})

static struct load_context *context;
static const uint8_t rows[11 * 19 * 3];

static void start(void)
{
	cr_assert(zero(int, load_context_new(&context)));
}

static void stop(void)
{
	load_context_free(&context);
}

TestSuite(load_preamble, .init = start, .fini = stop);

struct piece {
	const char *data;
	size_t size;
	bool refused;
};

#define REFUSED(data)                                                                    \
	{                                                                                \
		data, sizeof(data) - 1, true                                             \
	}
#define TAKEN(data)                                                                      \
	{                                                                                \
		data, sizeof(data) - 1, false                                            \
	}

static struct bytes insert(struct bytes into, size_t at, const void *data, size_t size)
{
	struct bytes out = {malloc(into.size + size), into.size + size};
	cr_assert(out.data != NULL);
	memcpy(out.data, into.data, at);
	memcpy(out.data + at, data, size);
	memcpy(out.data + at + size, into.data + at, into.size - at);
	return out;
}

static void expect(struct bytes bytes, const struct piece *piece)
{
	struct load_task task = bytes_prepare(context, bytes, SHAPE);
	cr_assert(eq(int, task.status, piece->refused ? -EIO : 0), "%.12s: %s",
		piece->data, task.message);
	tensor_free(task.tensor);
	free(bytes.data);
}

Test(load_preamble, segments_of_a_jpeg)
{
	static const struct piece pieces[] = {
		REFUSED("\xff\xe0\0\7JFIF\0"),
		TAKEN("\xff\xe0\0\x0aJFIF\0\1\1\0"),
		REFUSED("\xff\xee\0\7Adobe"),
		TAKEN("\xff\xee\0\x09"
		      "Adobe\0\x64"),
		REFUSED("\xff\xe2\0\x0fICC_PROFILE\0\1"),
		TAKEN("\xff\xe2\0\x10ICC_PROFILE\0\1\2"),
		TAKEN("\xff\xed\0\x14Photoshop 3.0\0"
		      "8BIM"),
		REFUSED("\xff\xed\0\x16Photoshop 3.0\0"
			"8BIM\3\xed"),
		REFUSED("\xff\xdb\0\4\0\0"),
		TAKEN("\xff\xdb\0\2"),
		TAKEN("\xff\xe5\0\2"),
		REFUSED("\xff\1"),
		TAKEN("\xff\xff\xff"),
	};
	struct bytes jpeg =
		jpeg_bytes(SHAPE, (struct jpeg_options){.space = JCS_RGB, .channels = 3});
	size_t frame = bytes_find(jpeg, "\xff\xc0", 2);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		expect(insert(jpeg, frame, pieces[i].data, pieces[i].size), &pieces[i]);
	free(jpeg.data);
}

/* PIL reads EXIF only if it has no resolution yet: here EXIF stands before JFIF. */
Test(load_preamble, exif_without_its_header)
{
	static const struct piece pieces[] = {
		REFUSED("\xff\xe1\0\x0c"
			"Exif\0\0II*\0"),
		TAKEN("\xff\xe1\0\x0c"
		      "Exif\0\0abcd"),
		TAKEN("\xff\xe1\0\x10"
		      "Exif\0\0II*\0\x08\0\0\0"),
		TAKEN("\xff\xe1\0\x08"
		      "Exif\0\0"),
	};
	struct bytes jpeg =
		jpeg_bytes(SHAPE, (struct jpeg_options){.space = JCS_RGB, .channels = 3});
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		expect(insert(jpeg, 2, pieces[i].data, pieces[i].size), &pieces[i]);
	free(jpeg.data);
}

static struct bytes png(void)
{
	return png_bytes(SHAPE,
		(struct png_options){.color = PNG_COLOR_TYPE_RGB, .depth = 8}, rows);
}

/* The first four bytes of the piece are the name of the chunk. */
static struct bytes insert_chunk(struct bytes into, const char *data, size_t size)
{
	uint8_t chunk[200];
	cr_assert(size + 8 <= sizeof(chunk));
	png_save_uint_32(chunk, (uint32_t)size - 4);
	memcpy(chunk + 4, data, size);
	png_save_uint_32(chunk + 4 + size, (uint32_t)crc32(0, chunk + 4, (uInt)size));
	return insert(into, bytes_find(into, "IDAT", 4) - 4, chunk, size + 8);
}

Test(load_preamble, chunks_of_a_png)
{
	static const struct piece pieces[] = {
		REFUSED("iCCPprofile"),
		TAKEN("iCCPprofile\0\0broken"),
		REFUSED("tRNS\0\1\0\1"),
		TAKEN("tRNS\0\1\0\1\0\1"),
		REFUSED("gAMA\0"),
		REFUSED("cHRM\0\0\0\0\0"),
		TAKEN("cHRM\0\0\0\0"),
		REFUSED("sRGB"),
		REFUSED("pHYs\0\0\0\0\0\0\0\0"),
		TAKEN("pHYs\0\0\0\0\0\0\0\0\0"),
		TAKEN("tEXt"),
		TAKEN("zTXtkey\0\0broken"),
		REFUSED("zTXtkey\0\1broken"),
		TAKEN("iTXtkey\0\1\0en\0\0broken"),
		REFUSED("acTL\0\0\0\1"),
		REFUSED("fcTL\0\0\0\0\0\0\0\1"),
		TAKEN("abCd"),
	};
	struct bytes bytes = png();
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		expect(insert_chunk(bytes, pieces[i].data, pieces[i].size), &pieces[i]);
	free(bytes.data);
}

Test(load_preamble, a_text_that_inflates_to_more_than_a_megabyte)
{
	static uint8_t text[(1 << 20) + 1];
	for (int more = 0; more < 2; more++) {
		uint8_t chunk[3000] = "zTXtkey\0";
		uLongf size = sizeof(chunk) - 9;
		struct piece piece = {"zTXt", 4, more};
		cr_assert(eq(int,
			compress2(chunk + 9, &size, text, sizeof(text) - !more, 9),
			Z_OK));
		struct bytes bytes = png();
		uint8_t whole[3100];
		png_save_uint_32(whole, (uint32_t)size + 5);
		memcpy(whole + 4, chunk, size + 9);
		png_save_uint_32(
			whole + 13 + size, (uint32_t)crc32(0, chunk, (uInt)size + 9));
		expect(insert(bytes, bytes_find(bytes, "IDAT", 4) - 4, whole, size + 17),
			&piece);
		free(bytes.data);
	}
}

/* Only the first n bytes of the filtered rows, in a stream that ends properly. */
static struct bytes png_with_data(size_t n)
{
	uint8_t data[11 * (1 + 19 * 3)], packed[2000];
	uLongf size = sizeof(packed);
	memset(data, 0x55, sizeof(data));
	for (size_t y = 0; y < 11; y++)
		data[y * 58] = 0;
	cr_assert(eq(int, compress(packed, &size, data, n), Z_OK));
	struct bytes bytes = png();
	size_t at = bytes_find(bytes, "IDAT", 4) - 4;
	struct bytes out = {malloc(at + 12 + size), at + 12 + size};
	memcpy(out.data, bytes.data, at);
	png_save_uint_32(out.data + at, (uint32_t)size);
	memcpy(out.data + at + 4, "IDAT", 4);
	memcpy(out.data + at + 8, packed, size);
	png_save_uint_32(out.data + at + 8 + size, 0);
	free(bytes.data);
	return out;
}

Test(load_preamble, data_that_end_behind_a_row_leave_the_rest_black)
{
	for (size_t n = 1; n <= 11; n++) {
		struct bytes bytes = png_with_data(n * 58);
		struct load_task task = bytes_prepare(context, bytes, SHAPE);
		cr_assert(zero(int, task.status), "%s", task.message);
		for (size_t i = 0; i < task.tensor->bytes; i++)
			cr_assert(eq(int, task.tensor->data[i], i < n * 57 ? 0x55 : 0));
		tensor_free(task.tensor);
		free(bytes.data);
	}
}

Test(load_preamble, data_that_end_within_a_row_are_refused)
{
	for (size_t n = 0; n <= 11 * 58; n += 29) {
		if (n % 58 == 0 && n > 0)
			continue;
		struct bytes bytes = png_with_data(n);
		assert_refused(bytes_prepare(context, bytes, SHAPE), EIO, "PNG: ");
		free(bytes.data);
	}
}

Test(load_preamble, the_limit_of_pixels_is_the_callers)
{
	for (int more = 0; more < 2; more++) {
		struct bytes bytes = png();
		struct image_file file = file_write(bytes, SHAPE);
		file.task.max_pixels = 11 * 19 - (uint64_t)more;
		struct load_task task = file_prepare(context, &file);
		cr_assert(eq(int, task.status, more ? -EIO : 0), "%s", task.message);
		tensor_free(task.tensor);
		free(bytes.data);
	}
}
