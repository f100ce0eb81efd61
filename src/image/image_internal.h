// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "image/buffer.h"
#include "image/image.h"
#include "image/resample.h"

#include <stddef.h>
#include <stdint.h>

/* Prints a message, of at most IMAGE_MESSAGE bytes, into `message`. Returns `error`. */
int image_fail(char *message, int error, const char *format, ...) printf_like(3, 4);

/* Fails for a file that no codec recognises; the message names the probable format. */
int image_fail_unknown(char *message, const uint8_t *data, size_t size);

/* Returns a * b / 255, rounded as in Pillow. */
static inline uint8_t times_of_255(unsigned a, unsigned b)
{
	unsigned product = a * b + 128;
	return (uint8_t)(((product >> 8) + product) >> 8);
}

/* number of bytes that PIL passes to its decoders at once; whether PIL accepts a damaged file can
 * depend on this number */
#define CODEC_READ_SIZE 65536

/* Rows and columns of an image; their pads are 0. */
struct image_part {
	struct crop_axis rows;
	struct crop_axis columns;
};

/* An image file for a codec. The caller of the codec keeps the pointers valid until `close`. */
struct codec_input {
	const uint8_t *data;
	size_t size;
	bool keep; /* true: `read` keeps the file's mode; false: `read` makes RGB */
	/* `read` fills in the missing pixels of a truncated file; only JPEG and PNG can do this */
	bool fill;
	char *message;		/* room for IMAGE_MESSAGE bytes */
	struct buffer *scratch; /* memory for the codec until `close` */
};

/*
 * An image format.
 *
 *   Flow: codec_create -> (open -> [scale] -> begin -> read -> codec_close)* -> codec_destroy.
 *         codec_close is called after a failure, too.
 *   Errors: 0 or -errno, with a message in codec_input.message.
 */
struct codec {
	/* every file begins with these bytes; NULL: `knows` recognises the files */
	const char *magic;
	size_t magic_bytes;
	bool (*knows)(const uint8_t *data, size_t size);
	/* bytes of the beginning of a file that suffice for `open`; 0: all */
	size_t head_bytes;
	bool keeps; /* `read` can keep the mode of the file (codec_input.keep) */
	/* bytes of the state, which begins as zeros; 0: `create` makes the state */
	size_t state_bytes;
	int (*create)(bool plain, void **ret); /* plain: use only portable code */
	void (*destroy)(void *state);
	/* Reads the header and returns the shape and mode of the file. */
	int (*open)(
		void *state, const struct codec_input *input, struct tensor_shape *ret);
	/* Chooses a faster, approximate decode to a smaller size, not below `least`. Returns this
	 * size, or the full size if no smaller size is possible. NULL: the codec decodes only at
	 * full size. */
	struct tensor_shape (*scale)(void *state, struct tensor_shape least);
	/* Sets the part of the image that the function `read` decodes. The codec may enlarge *part.
	 * NULL: `read` always decodes the whole image. */
	int (*begin)(void *state, struct image_part *part);
	/* Decodes the part into `pixels`, in rows without gaps. */
	int (*read)(void *state, uint8_t *pixels);
	void (*close)(void *state); /* NULL: there is nothing to close */
	size_t (*bytes)(const void *state);
	/* Finds the EXIF data. NULL: the format has none; or the scan of the dataset finds the data
	 * (JPEG, PNG); or `read` applies the EXIF orientation itself (TIFF). */
	struct exif_data (*exif)(const uint8_t *data, size_t size);
};

int codec_create(const struct codec *codec, bool plain, void **ret);
void codec_close(const struct codec *codec, void *state);
void codec_destroy(const struct codec *codec, void *state);
size_t codec_bytes(const struct codec *codec, const void *state);

const struct codec *codec_find(const uint8_t *data, size_t size);

extern const struct codec codec_jpeg;
extern const struct codec codec_png;
extern const struct codec codec_bmp;
extern const struct codec codec_gif;
extern const struct codec codec_ppm;
#ifdef HAVE_WEBP
extern const struct codec codec_webp;
#endif
#ifdef HAVE_TIFF
extern const struct codec codec_tiff;
#endif
