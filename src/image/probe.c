// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/image_internal.h"

#define MOST_BYTES ((size_t)1 << 30)

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
