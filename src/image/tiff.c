// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#ifdef HAVE_TIFF

#include "image/image_internal.h"
#include "image/orient.h"

#include <errno.h>
#include <string.h>
#include <tiffio.h>

/* Decodes TIFF by libtiff. As in Pillow, gray of 1 to 16 bits, palettes, RGB and CMYK become RGB,
 * alpha is dropped, and the orientation is applied. If channels are kept, only CMYK and YCbCr
 * become RGB, and floats are supported, too. */

#define MOST_CHANNELS 6
#define MOST_TILE ((tmsize_t)256 << 20)

struct tiff {
	char *message;
	const uint8_t *data;
	size_t size, at;
	TIFF *file;
	uint32_t width, height;
	uint16_t bits, channels, photometric, planar, orientation;
	/* the file's colours have already been multiplied by the file's alpha */
	bool associated;
	bool keep, real;      /* the file's channels are kept; its numbers are floats */
	enum pixel_mode mode; /* mode of the file */
	size_t pixel;	      /* bytes of a pixel in the result */
	uint8_t palette[256][3];
	struct buffer row;     /* one row from libtiff, or one tile */
	struct buffer upright; /* the file's pixels, before orientation is applied */
};

static int refuse(struct tiff *tiff, const char *text)
{
	return image_fail(tiff->message, -EIO, "TIFF: %s", text);
}

/* --- a file in memory ------------------------------------------------------------------- */

static tmsize_t on_read(thandle_t handle, void *out, tmsize_t bytes)
{
	struct tiff *tiff = handle;
	size_t left = tiff->at < tiff->size ? tiff->size - tiff->at : 0;
	size_t n = (size_t)bytes < left ? (size_t)bytes : left;
	memcpy(out, tiff->data + (left ? tiff->at : 0), n);
	tiff->at += n;
	return (tmsize_t)n;
}

static tmsize_t on_write(thandle_t handle, void *in, tmsize_t bytes)
{
	(void)handle, (void)in, (void)bytes;
	return -1;
}

static toff_t on_seek(thandle_t handle, toff_t to, int whence)
{
	struct tiff *tiff = handle;
	toff_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? tiff->at : tiff->size;
	tiff->at = (size_t)(base + to);
	return tiff->at;
}

static int on_close(thandle_t handle)
{
	(void)handle;
	return 0;
}

static toff_t on_size(thandle_t handle)
{
	return ((struct tiff *)handle)->size;
}

/* --- head --------------------------------------------------------------------------------- */

static int read_palette(struct tiff *tiff)
{
	uint16_t *red, *green, *blue;
	if (tiff->bits > 8 ||
		!TIFFGetField(tiff->file, TIFFTAG_COLORMAP, &red, &green, &blue))
		return refuse(tiff, "no palette");
	for (unsigned i = 0; i < 1u << tiff->bits; i++) {
		tiff->palette[i][0] = (uint8_t)(red[i] >> 8);
		tiff->palette[i][1] = (uint8_t)(green[i] >> 8);
		tiff->palette[i][2] = (uint8_t)(blue[i] >> 8);
	}
	return 0;
}

static bool is_usual(const struct tiff *tiff, uint16_t format, uint16_t extra)
{
	unsigned bits = tiff->bits, colours = tiff->channels - extra;
	bool few = bits == 1 || bits == 2 || bits == 4, whole = bits == 8 || bits == 16;
	bool with_alpha = tiff->channels == 2 && extra == 1 && bits == 8;
	if (format == SAMPLEFORMAT_IEEEFP)
		return bits == 32 && tiff->channels == 1 &&
		       tiff->photometric <= PHOTOMETRIC_MINISBLACK;
	if (format != SAMPLEFORMAT_UINT && format != SAMPLEFORMAT_VOID)
		return false;
	switch (tiff->photometric) {
	case PHOTOMETRIC_MINISWHITE:
		return tiff->channels == 1 && (few || whole);
	case PHOTOMETRIC_MINISBLACK:
		return (tiff->channels == 1 && (few || whole)) || with_alpha;
	case PHOTOMETRIC_PALETTE:
		return (tiff->channels == 1 && (few || bits == 8)) || with_alpha;
	case PHOTOMETRIC_RGB:
		return whole && (colours == 3 || (colours == 4 && extra == 0));
	case PHOTOMETRIC_YCBCR:
		return bits == 8 && tiff->channels == 3;
	case PHOTOMETRIC_SEPARATED:
		return whole && colours == 4;
	default:
		return false;
	}
}

static enum pixel_mode mode_of(const struct tiff *tiff, bool alpha)
{
	bool palette = tiff->photometric == PHOTOMETRIC_PALETTE;
	unsigned channels = tiff->photometric == PHOTOMETRIC_RGB ? 3 : 1;
	if (tiff->real)
		return PIXELS_F;
	if (tiff->photometric > PHOTOMETRIC_PALETTE)
		return PIXELS_RGB;
	return pixel_mode_of(
		channels + (alpha && !palette), tiff->bits == 16 ? 16 : 8, palette);
}

/* Accepts YCbCr only with JPEG compression, because libtiff then converts it to RGB itself. */
static int check_compression(struct tiff *tiff)
{
	uint16_t compression;
	TIFFGetFieldDefaulted(tiff->file, TIFFTAG_COMPRESSION, &compression);
	if (compression == COMPRESSION_OJPEG || !TIFFIsCODECConfigured(compression))
		return refuse(tiff, "unsupported compression");
	if (tiff->photometric != PHOTOMETRIC_YCBCR)
		return 0;
	if (compression != COMPRESSION_JPEG || tiff->planar != PLANARCONFIG_CONTIG)
		return refuse(tiff, "unsupported: YCbCr that is not JPEG");
	TIFFSetField(tiff->file, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
	return 0;
}

static int read_head(struct tiff *tiff)
{
	uint16_t format, extra = 0, *extras = NULL;
	TIFF *file = tiff->file;
	if (!TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &tiff->width) ||
		!TIFFGetField(file, TIFFTAG_IMAGELENGTH, &tiff->height) ||
		tiff->width == 0 || tiff->height == 0)
		return refuse(tiff, "no pixels");
	TIFFGetFieldDefaulted(file, TIFFTAG_BITSPERSAMPLE, &tiff->bits);
	TIFFGetFieldDefaulted(file, TIFFTAG_SAMPLESPERPIXEL, &tiff->channels);
	TIFFGetFieldDefaulted(file, TIFFTAG_SAMPLEFORMAT, &format);
	TIFFGetFieldDefaulted(file, TIFFTAG_PLANARCONFIG, &tiff->planar);
	TIFFGetFieldDefaulted(file, TIFFTAG_EXTRASAMPLES, &extra, &extras);
	if (!TIFFGetField(file, TIFFTAG_ORIENTATION, &tiff->orientation) ||
		tiff->orientation > 8)
		tiff->orientation = 1;
	if (!TIFFGetField(file, TIFFTAG_PHOTOMETRIC, &tiff->photometric))
		tiff->photometric = PHOTOMETRIC_MINISWHITE;
	if (tiff->channels > MOST_CHANNELS || extra >= tiff->channels ||
		!is_usual(tiff, format, extra))
		return refuse(tiff, "unsupported kind of pixels");
	bool alpha = extra > 0 && (extras[0] == EXTRASAMPLE_ASSOCALPHA ||
					  extras[0] == EXTRASAMPLE_UNASSALPHA);
	tiff->real = format == SAMPLEFORMAT_IEEEFP;
	tiff->mode = mode_of(tiff, alpha);
	tiff->pixel =
		tiff->keep ? tensor_pixel_bytes((struct tensor_shape){.mode = tiff->mode})
			   : 3;
	tiff->associated = extra > 0 && extras[0] == EXTRASAMPLE_ASSOCALPHA &&
			   tiff->photometric == PHOTOMETRIC_RGB;
	return tiff->photometric == PHOTOMETRIC_PALETTE ? read_palette(tiff) : 0;
}

static int open_image(
	void *state, const struct codec_input *input, struct tensor_shape *ret)
{
	struct tiff *tiff = state;
	tiff->message = input->message;
	tiff->data = input->data;
	tiff->size = input->size;
	tiff->keep = input->keep;
	tiff->at = 0;
	tiff->file = TIFFClientOpen("", "rm", tiff, on_read, on_write, on_seek, on_close,
		on_size, NULL, NULL);
	if (!tiff->file)
		return refuse(tiff, "damaged");
	int err = read_head(tiff);
	if (!err)
		err = check_compression(tiff);
	bool turned = tiff->orientation > 4;
	*ret = (struct tensor_shape){.height = turned ? tiff->width : tiff->height,
		.width = turned ? tiff->height : tiff->width,
		.mode = tiff->mode};
	return err;
}

/* --- pixels ------------------------------------------------------------------------------- */

/* Returns number i of a row. If numbers have 16 bits, returns the upper 8 bits. */
static unsigned sample(const struct tiff *tiff, const uint8_t *row, size_t i)
{
	unsigned shift;
	switch (tiff->bits) {
	case 8:
		return row[i];
	case 16:
		return ((const uint16_t *)(const void *)row)[i] >> 8;
	default:
		shift = 8 - tiff->bits - (unsigned)(i * tiff->bits % 8);
		return row[i * tiff->bits / 8] >> shift & ((1u << tiff->bits) - 1);
	}
}

/* Returns pixel i of a gray row in 8 bits. 16-bit gray is not scaled: 255 and more are white. */
static uint8_t gray(const struct tiff *tiff, const uint8_t *row, size_t i)
{
	if (tiff->bits == 16) {
		unsigned value = ((const uint16_t *)(const void *)row)[i];
		return (uint8_t)(value > 255 ? 255 : value);
	}
	unsigned value = sample(tiff, row, i) * 255 / ((1u << tiff->bits) - 1);
	return (uint8_t)(tiff->photometric == PHOTOMETRIC_MINISWHITE ? 255 - value
								     : value);
}

static void convert_pixel(
	const struct tiff *tiff, const uint8_t *row, size_t i, uint8_t *out)
{
	unsigned alpha, ink;
	switch (tiff->photometric) {
	case PHOTOMETRIC_MINISWHITE:
	case PHOTOMETRIC_MINISBLACK:
		memset(out, gray(tiff, row, i), tiff->pixel);
		break;
	case PHOTOMETRIC_PALETTE:
		memcpy(out, tiff->palette[sample(tiff, row, i)], 3);
		break;
	case PHOTOMETRIC_SEPARATED:
		ink = 255 - sample(tiff, row, i + 3);
		for (size_t k = 0; k < 3; k++)
			out[k] = (uint8_t)(ink -
					   times_of_255(sample(tiff, row, i + k), ink));
		break;
	default:
		alpha = tiff->associated ? sample(tiff, row, i + 3) : 255;
		for (size_t k = 0; k < 3; k++) {
			unsigned value = sample(tiff, row, i + k);
			if (alpha < 255)
				value = alpha ? value * 255 / alpha : 0;
			out[k] = (uint8_t)(value > 255 ? 255 : value);
		}
	}
}

/* Copies the 16-bit numbers of a pixel. Divides the colours by alpha if tiff->associated is set. */
static void keep_words(
	const struct tiff *tiff, const uint8_t *row, size_t i, uint8_t *out)
{
	const uint16_t *in = (const uint16_t *)(const void *)row + i;
	size_t channels = tiff->pixel / 2;
	unsigned alpha = tiff->associated ? in[channels - 1] : 65535;
	for (size_t k = 0; k < channels; k++, out += 2) {
		unsigned value = in[k];
		if (alpha < 65535 && k + 1 < channels)
			value = alpha ? (unsigned)((uint64_t)value * 65535 / alpha) : 0;
		memcpy(out, &(uint16_t){(uint16_t)(value > 65535 ? 65535 : value)}, 2);
	}
}

static void keep_pixel(
	const struct tiff *tiff, const uint8_t *row, size_t i, uint8_t *out)
{
	switch (tiff->mode) {
	case PIXELS_P:
		*out = (uint8_t)sample(tiff, row, i);
		break;
	case PIXELS_LA:
		out[0] = gray(tiff, row, i);
		out[1] = (uint8_t)sample(tiff, row, i + 1);
		break;
	case PIXELS_RGBA:
		convert_pixel(tiff, row, i, out);
		out[3] = (uint8_t)sample(tiff, row, i + 3);
		break;
	case PIXELS_F:
		memcpy(out, row + 4 * i, 4);
		break;
	default:
		keep_words(tiff, row, i, out);
	}
}

static void convert_row(
	const struct tiff *tiff, const uint8_t *row, uint32_t n, uint8_t *out)
{
	bool keeps = tiff->keep && tiff->mode != PIXELS_RGB && tiff->mode != PIXELS_L;
	for (uint32_t x = 0; x < n; x++, out += tiff->pixel)
		(keeps ? keep_pixel : convert_pixel)(
			tiff, row, (size_t)x * tiff->channels, out);
}

static int read_rows(struct tiff *tiff, uint8_t *pixels)
{
	size_t stride = tiff->width * tiff->pixel;
	for (uint32_t y = 0; y < tiff->height; y++) {
		if (TIFFReadScanline(tiff->file, tiff->row.data, y, 0) < 0)
			return refuse(tiff, "truncated or damaged");
		convert_row(tiff, tiff->row.data, tiff->width, pixels + y * stride);
	}
	return 0;
}

static int read_tile(struct tiff *tiff, uint32_t x, uint32_t y, uint32_t width,
	uint32_t height, uint8_t *pixels)
{
	tmsize_t row = TIFFTileRowSize(tiff->file);
	if (TIFFReadTile(tiff->file, tiff->row.data, x, y, 0, 0) < 0)
		return refuse(tiff, "truncated or damaged");
	uint32_t n = tiff->width - x < width ? tiff->width - x : width;
	for (uint32_t i = 0; i < height && y + i < tiff->height; i++)
		convert_row(tiff, tiff->row.data + (size_t)row * i, n,
			pixels + ((size_t)(y + i) * tiff->width + x) * tiff->pixel);
	return 0;
}

static int read_tiles(struct tiff *tiff, uint8_t *pixels)
{
	uint32_t width = 0, height = 0;
	int err = 0;
	TIFFGetField(tiff->file, TIFFTAG_TILEWIDTH, &width);
	TIFFGetField(tiff->file, TIFFTAG_TILELENGTH, &height);
	if (width == 0 || height == 0)
		return refuse(tiff, "damaged");
	for (uint64_t y = 0; !err && y < tiff->height; y += height)
		for (uint64_t x = 0; !err && x < tiff->width; x += width)
			err = read_tile(
				tiff, (uint32_t)x, (uint32_t)y, width, height, pixels);
	return err;
}

static int read_upright(struct tiff *tiff, uint8_t *pixels)
{
	bool tiles = TIFFIsTiled(tiff->file);
	if (tiff->planar != PLANARCONFIG_CONTIG && tiff->channels > 1)
		return refuse(tiff, "unsupported: channels in separate planes");
	tmsize_t bytes = tiles ? TIFFTileSize(tiff->file) : TIFFScanlineSize(tiff->file);
	if (bytes <= 0 || bytes > MOST_TILE)
		return refuse(tiff, "damaged");
	if (buffer_reserve(&tiff->row, (size_t)bytes + 8))
		return image_fail(tiff->message, -ENOMEM, "no memory");
	/* zeros, because libtiff may deliver fewer bytes for a damaged row */
	memset(tiff->row.data, 0, (size_t)bytes);
	return tiles ? read_tiles(tiff, pixels) : read_rows(tiff, pixels);
}

static int read_image(void *state, uint8_t *pixels)
{
	struct tiff *tiff = state;
	struct tensor_shape shape = {.height = tiff->height,
		.width = tiff->width,
		.mode = tiff->keep ? tiff->mode : PIXELS_RGB};
	if (tiff->real && !tiff->keep)
		return refuse(
			tiff, "pixels of float32, allowed only with channels = keep");
	if (tiff->orientation <= 1)
		return read_upright(tiff, pixels);
	if (buffer_reserve(&tiff->upright, tensor_shape_bytes(shape)))
		return image_fail(tiff->message, -ENOMEM, "no memory");
	int err = read_upright(tiff, tiff->upright.data);
	if (!err)
		orient(shape, tiff->orientation, tiff->upright.data, pixels);
	return err;
}

/* --- the codec ---------------------------------------------------------------------------- */

static void close_image(void *state)
{
	struct tiff *tiff = state;
	if (tiff->file)
		TIFFClose(tiff->file);
	tiff->file = NULL;
	buffer_trim(&tiff->row);
	buffer_trim(&tiff->upright);
}

static size_t held_bytes(const void *state)
{
	const struct tiff *tiff = state;
	return sizeof(*tiff) + tiff->row.size + tiff->upright.size;
}

static int create(bool plain, void **ret)
{
	(void)plain;
	TIFFSetErrorHandler(NULL);
	TIFFSetWarningHandler(NULL);
	*ret = calloc(1, sizeof(struct tiff));
	return *ret ? 0 : -ENOMEM;
}

static void destroy(void *state)
{
	struct tiff *tiff = state;
	buffer_free(&tiff->row);
	buffer_free(&tiff->upright);
	free(tiff);
}

static bool knows(const uint8_t *data, size_t size)
{
	return size >= 8 &&
	       (memcmp(data, "II*\0", 4) == 0 || memcmp(data, "MM\0*", 4) == 0 ||
		       memcmp(data, "II+\0", 4) == 0 || memcmp(data, "MM\0+", 4) == 0);
}

const struct codec codec_tiff = {
	.knows = knows,
	.keeps = true,
	.create = create,
	.destroy = destroy,
	.open = open_image,
	.read = read_image,
	.close = close_image,
	.bytes = held_bytes,
};

#endif
