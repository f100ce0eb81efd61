// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/image_internal.h"

#include <errno.h>
#include <stdlib.h>

#define MOST_BYTES ((size_t)1 << 30)

const char *image_readers(void)
{
	return "jpeg png(text) bmp gif ppm"
#ifdef HAVE_WEBP
	       " webp"
#endif
#ifdef HAVE_TIFF
	       " tiff"
#endif
		;
}

const char *image_lacking(void)
{
#if defined(HAVE_WEBP) && defined(HAVE_TIFF)
	return "";
#elif defined(HAVE_WEBP)
	return " (this build has no TIFF)";
#elif defined(HAVE_TIFF)
	return " (this build has no WebP)";
#else
	return " (this build has neither WebP nor TIFF)";
#endif
}

int codec_create(const struct codec *codec, bool plain, void **ret)
{
	if (codec->create)
		return codec->create(plain, ret);
	*ret = calloc(1, codec->state_bytes);
	return *ret ? 0 : -ENOMEM;
}

void codec_close(const struct codec *codec, void *state)
{
	if (codec->close)
		codec->close(state);
}

void codec_destroy(const struct codec *codec, void *state)
{
	if (codec->destroy)
		codec->destroy(state);
	else
		free(state);
}

size_t codec_bytes(const struct codec *codec, const void *state)
{
	return codec->bytes ? codec->bytes(state) : codec->state_bytes;
}

size_t image_head_bytes(const uint8_t *begin, size_t n)
{
	const struct codec *codec = codec_find(begin, n);
	if (!codec)
		return 0;
	return codec->head_bytes ? codec->head_bytes : MOST_BYTES;
}

/* Makes a new codec state for each image. This is fast enough: the scan of a dataset reads JPEG and
 * PNG headers without this function, and other formats are rare. */
bool image_probe(const uint8_t *data, size_t size, struct tensor_shape *ret,
	struct exif_data *ret_exif)
{
	const struct codec *codec = codec_find(data, size);
	char message[IMAGE_MESSAGE];
	void *state = NULL;
	*ret = (struct tensor_shape){0};
	*ret_exif = (struct exif_data){0};
	if (!codec || codec_create(codec, false, &state) != 0)
		return false;
	struct buffer scratch = {0};
	const struct codec_input input = {
		.data = data, .size = size, .message = message, .scratch = &scratch};
	bool opened = codec->open(state, &input, ret) == 0;
	codec_close(codec, state);
	codec_destroy(codec, state);
	buffer_free(&scratch);
	if (opened && codec->exif)
		*ret_exif = codec->exif(data, size);
	if (!opened)
		*ret = (struct tensor_shape){0};
	return opened;
}
