// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/image_internal.h"

#include <errno.h>
#include <stdlib.h>

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
