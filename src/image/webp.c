// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#ifdef HAVE_WEBP

#include "image/image_internal.h"

#include <errno.h>
#include <string.h>
#include <webp/decode.h>
#include <webp/demux.h>

/* Decodes WebP by libwebp's animation decoder, as Pillow does. The image is the first frame, drawn
 * on the canvas. Transparency is dropped, unless channels are kept. */

struct webp {
	char *message;
	WebPAnimDecoder *decoder;
	WebPAnimInfo info;
	bool keep;
	enum pixel_mode mode;
};

static int refuse(struct webp *webp)
{
	return image_fail(webp->message, -EIO, "WebP: damaged or truncated");
}

static int open_image(
	void *state, const struct codec_input *input, struct tensor_shape *ret)
{
	struct webp *webp = state;
	const WebPData file = {input->data, input->size};
	WebPBitstreamFeatures features;
	webp->message = input->message;
	webp->keep = input->keep;
	webp->decoder = WebPAnimDecoderNew(&file, NULL);
	if (!webp->decoder || !WebPAnimDecoderGetInfo(webp->decoder, &webp->info))
		return refuse(webp);
	bool alpha = WebPGetFeatures(file.bytes, file.size, &features) != VP8_STATUS_OK ||
		     features.has_alpha;
	webp->mode = alpha ? PIXELS_RGBA : PIXELS_RGB;
	*ret = (struct tensor_shape){.height = webp->info.canvas_height,
		.width = webp->info.canvas_width,
		.mode = webp->mode};
	return 0;
}

static int read_image(void *state, uint8_t *pixels)
{
	struct webp *webp = state;
	uint8_t *canvas;
	int end_ms;
	if (!WebPAnimDecoderGetNext(webp->decoder, &canvas, &end_ms))
		return refuse(webp);
	size_t n = (size_t)webp->info.canvas_width * webp->info.canvas_height;
	size_t bytes = webp->keep ? pixel_modes[webp->mode].channels : 3;
	for (size_t i = 0; i < n; i++, canvas += 4, pixels += bytes)
		memcpy(pixels, canvas, bytes);
	return 0;
}

static void close_image(void *state)
{
	struct webp *webp = state;
	WebPAnimDecoderDelete(webp->decoder);
	webp->decoder = NULL;
}

static bool knows(const uint8_t *data, size_t size)
{
	return size >= 16 && memcmp(data, "RIFF", 4) == 0 &&
	       memcmp(data + 8, "WEBPVP8", 7) == 0 && strchr(" LX", data[15]) && data[15];
}

static struct exif_data find_exif(const uint8_t *data, size_t size)
{
	const WebPData file = {data, size};
	struct exif_data exif = {0};
	WebPChunkIterator chunk;
	WebPDemuxer *demuxer = WebPDemux(&file);
	if (demuxer && WebPDemuxGetChunk(demuxer, "EXIF", 1, &chunk)) {
		exif = (struct exif_data){chunk.chunk.bytes, chunk.chunk.size};
		WebPDemuxReleaseChunkIterator(&chunk);
	}
	WebPDemuxDelete(demuxer);
	if (exif.size >= 6 && memcmp(exif.data, "Exif\0\0", 6) == 0)
		exif = (struct exif_data){exif.data + 6, exif.size - 6};
	return exif;
}

const struct codec codec_webp = {
	.knows = knows,
	.keeps = true,
	.state_bytes = sizeof(struct webp),
	.open = open_image,
	.read = read_image,
	.close = close_image,
	.exif = find_exif,
};

#endif
