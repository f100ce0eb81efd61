// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "image/preparation.h"

#include <stddef.h>

/*
 * Makes tensors from an encoded image: codec -> orientation -> resize -> crop.
 *
 *   Flow: a worker keeps a decoder and calls image_decode for one image after another.
 *   Owns: the decoder owns its buffers; a tensor that was made belongs to the caller.
 *   Threads: a decoder is used by one thread at a time.
 *   Errors: 0 or -errno, with a message that names the cause.
 */

/* PIL refuses images with more pixels as decompression bombs. */
#define IMAGE_MAX_PIXELS (UINT64_C(2) * 89478485)

#define IMAGE_MESSAGE 160 /* bytes that hold any message */

/* The bytes of an image file, and properties that the scan of the dataset has found. */
struct encoded_image {
	const uint8_t *data;
	size_t size;
	/* expected size and, if channels = keep, expected mode; an image that differs is refused */
	struct tensor_shape shape;
	/* EXIF orientation, used only with preparation->exif; 0 or 1: upright */
	unsigned orientation;
	uint64_t max_pixels; /* larger images are refused; 0: IMAGE_MAX_PIXELS */
};

struct image_output {
	const struct preparation *preparation; /* preparation->encoded must be false */
	/* set by image_decode; NULL if a failure came before this tensor was made */
	struct tensor *tensor;
	/* bytes to allocate behind the pixels, for a second image such as a mask */
	uint64_t room;
};

/* Returns the names of the formats that this build decodes, separated by spaces. */
const char *image_readers(void);
/* Returns a text for messages, which names, in brackets, the formats that this build lacks. Returns
 * an empty text if the build lacks none. */
const char *image_lacking(void);

/* The EXIF data of an image, which begin with the head of a TIFF file. */
struct exif_data {
	const uint8_t *data; /* NULL: the image has no EXIF data */
	size_t size;
};

#define IMAGE_BEGIN 16 /* number of bytes that identify a file's format */

/* Returns how many bytes from the beginning of a file suffice for image_probe, or 0 if the file is
 * no image. A shorter file has to be passed whole. begin: the first n bytes of the file, usually
 * IMAGE_BEGIN. */
size_t image_head_bytes(const uint8_t *begin, size_t n);

/* Reads the size and the mode of an image. *ret_exif: the EXIF data of a WebP file, within `data`;
 * none for other formats. Returns false if no codec recognises the file, or if the file is
 * damaged. */
bool image_probe(const uint8_t *data, size_t size, struct tensor_shape *ret,
	struct exif_data *ret_exif);

/* Returns the mode of the pixels of a PNG. bits: number of bits per channel; color: PNG's colour
 * type. */
enum pixel_mode image_png_mode(unsigned bits, unsigned color);
enum pixel_mode image_jpeg_mode(int components);

struct image_decoder;
must_check int image_decoder_new(struct image_decoder **ret);
void image_decoder_free(struct image_decoder **decoder);

/* Makes the decoder use only portable code, for tests. After -ENOMEM the decoder can only be
 * freed. */
must_check int image_decoder_use_plain(struct image_decoder *decoder);

/* Frees large buffers, which only exceptionally large images need. */
void image_decoder_trim(struct image_decoder *decoder);

struct image_usage {
	/* processor times of all images so far; decode_ns does not include resample_ns */
	uint64_t decode_ns;
	uint64_t resample_ns;
	/* memory at the end of the last decode, before large buffers are freed; without tensors */
	size_t bytes;
};
struct image_usage image_decoder_usage(const struct image_decoder *decoder);

/* Returns the most bytes that preparing an image of this size takes, besides the tensor and what a
 * decoder always holds. Neither the image nor the resized image may exceed 2^32 pixels. */
uint64_t image_working_bytes(const struct preparation *preparation,
	struct tensor_shape image, uint64_t file_bytes);

/* Decodes the image once, and makes the tensors of all outputs. The pixels are RGB8 as in PIL's
 * convert('RGB'), unless the preparation asks for other channels. The image is turned if
 * preparation->exif is set, resized as by Pillow, and then centre-cropped. With several outputs, no
 * preparation may set `approximate`, `exif` or `fills_truncated`, or keep channels. After a failure
 * the caller frees the tensors that were made. -EIO: the image is truncated, corrupt, unsupported
 * or no image; -ESTALE: the image differs from image->shape; -ENOMEM. Fault that tests inject:
 * load.decode. */
must_check int image_decode(struct image_decoder *decoder,
	const struct encoded_image *image, struct image_output *outputs, size_t n,
	char message[static IMAGE_MESSAGE]);
