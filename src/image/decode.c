// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/ensure.h"
#include "base/fault.h"
#include "image/image_internal.h"
#include "image/orient.h"
#include "image/plain.h"
#include "image/preamble.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct codec *const codecs[] = {
	&codec_jpeg,
	&codec_png,
	&codec_bmp,
	&codec_gif,
	&codec_ppm,
#ifdef HAVE_WEBP
	&codec_webp,
#endif
#ifdef HAVE_TIFF
	&codec_tiff,
#endif
};
#define N_CODECS (sizeof(codecs) / sizeof(codecs[0]))

/* The check of the preamble for each of `codecs`; NULL: none is needed. */
static int (*const check_preamble[N_CODECS])(char *message, const uint8_t *data,
	size_t size) = {preamble_check_jpeg, preamble_check_png};

struct image_decoder {
	void *codec_states[N_CODECS];
	struct buffer pixels; /* the decoded image, before resize and crop */
	struct buffer turned; /* the decoded image, turned by its EXIF orientation */
	struct buffer gray;
	struct buffer scratch; /* memory for the codec that decodes the image */
	struct resampler *resampler;
	struct image_usage usage;
};

int image_fail(char *message, int error, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(message, IMAGE_MESSAGE, format, args);
	va_end(args);
	return error;
}

static int fail_memory(char *message)
{
	return image_fail(message, -ENOMEM, "no memory");
}

static int make_parts(struct image_decoder *decoder, bool plain)
{
	int err = resampler_new(plain, &decoder->resampler);
	for (size_t i = 0; !err && i < N_CODECS; i++)
		err = codec_create(codecs[i], plain, &decoder->codec_states[i]);
	return err;
}

static void free_parts(struct image_decoder *decoder)
{
	for (size_t i = 0; i < N_CODECS; i++) {
		if (decoder->codec_states[i])
			codec_destroy(codecs[i], decoder->codec_states[i]);
		decoder->codec_states[i] = NULL;
	}
	resampler_free(&decoder->resampler);
}

int image_decoder_new(struct image_decoder **ret)
{
	struct image_decoder *decoder = calloc(1, sizeof(*decoder));
	int err = decoder ? make_parts(decoder, plain_is_asked_for()) : -ENOMEM;
	if (err)
		image_decoder_free(&decoder);
	*ret = decoder;
	return err;
}

void image_decoder_free(struct image_decoder **decoder_pointer)
{
	struct image_decoder *decoder = *decoder_pointer;
	*decoder_pointer = NULL;
	if (!decoder)
		return;
	free_parts(decoder);
	buffer_free(&decoder->pixels);
	buffer_free(&decoder->turned);
	buffer_free(&decoder->gray);
	buffer_free(&decoder->scratch);
	free(decoder);
}

int image_decoder_use_plain(struct image_decoder *decoder)
{
	free_parts(decoder);
	return make_parts(decoder, true);
}

void image_decoder_trim(struct image_decoder *decoder)
{
	buffer_trim(&decoder->pixels);
	buffer_trim(&decoder->turned);
	buffer_trim(&decoder->gray);
}

struct image_usage image_decoder_usage(const struct image_decoder *decoder)
{
	return decoder->usage;
}

static size_t held_bytes(const struct image_decoder *decoder)
{
	size_t bytes = sizeof(*decoder) + decoder->pixels.size + decoder->turned.size +
		       decoder->gray.size + decoder->scratch.size +
		       resampler_bytes(decoder->resampler);
	for (size_t i = 0; i < N_CODECS; i++)
		bytes += codec_bytes(codecs[i], decoder->codec_states[i]);
	return bytes;
}

/* An image that its codec has opened. */
struct decoding {
	struct image_decoder *decoder;
	const struct encoded_image *image;
	const struct codec *codec;
	void *state;
	enum pixel_mode mode; /* mode of the pixels that the codec makes */
	char *message;
};

struct transform {
	struct resample_window window;
	struct tensor_shape shape; /* size of the tensor */
	const uint8_t *fill;	   /* colour around the image */
	/* mode of the decoded pixels; shape.mode is the mode of the tensor */
	enum pixel_mode mode;
	struct image_part needed; /* part of the image on which the tensor depends */
	struct image_part part;	  /* part of the image that is decoded */
};

static bool same_shape(struct tensor_shape a, struct tensor_shape b)
{
	return a.height == b.height && a.width == b.width;
}

/* Plans how the decoded image becomes the tensor. original: size of the full image; image: size to
 * which the codec decodes it, smaller if the codec scales it down. */
static struct transform plan(const struct decoding *decoding,
	const struct preparation *preparation, struct tensor_shape original,
	struct tensor_shape image)
{
	struct tensor_shape size = preparation_resized(preparation, original);
	struct tensor_shape shape = preparation_output(preparation, original);
	struct crop_axis rows, columns;
	preparation_window(preparation, size, &rows, &columns);
	size.mode = shape.mode;
	return (struct transform){
		.window = {preparation->filter, image, size, rows, columns},
		.shape = shape,
		.fill = preparation->fill,
		.mode = decoding->mode,
		.needed = {.rows = resample_source(
				   preparation->filter, image.height, size.height, rows),
			.columns = resample_source(
				preparation->filter, image.width, size.width, columns)},
	};
}

static struct image_part whole(struct tensor_shape image)
{
	return (struct image_part){
		.rows.length = image.height, .columns.length = image.width};
}

static int begin(const struct decoding *decoding, struct transform *transform)
{
	transform->part = transform->needed;
	if (decoding->codec->begin)
		return decoding->codec->begin(decoding->state, &transform->part);
	transform->part = whole(transform->window.image);
	return 0;
}

static int new_tensor(const struct decoding *decoding, struct tensor_shape shape,
	struct image_output *output)
{
	uint64_t bytes = tensor_shape_bytes(shape);
	output->tensor = tensor_new(
		shape, output->room ? tensor_second_at(bytes) + output->room : bytes);
	return output->tensor ? 0 : fail_memory(decoding->message);
}

static int read_part(const struct decoding *decoding, const struct image_part *part)
{
	struct buffer *pixels = &decoding->decoder->pixels;
	struct tensor_shape shape = {.height = part->rows.length,
		.width = part->columns.length,
		.mode = decoding->mode};
	if (buffer_reserve(pixels, tensor_shape_bytes(shape)))
		return fail_memory(decoding->message);
	return decoding->codec->read(decoding->state, pixels->data);
}

/* Tells whether the decoded part is already the finished tensor. */
static bool nothing_to_do(const struct transform *transform)
{
	const struct image_part *part = &transform->part;
	struct tensor_shape decoded = {
		.height = part->rows.length, .width = part->columns.length};
	return transform->shape.mode == transform->mode &&
	       same_shape(transform->window.image, transform->window.size) &&
	       same_shape(decoded, transform->shape);
}

/* Converts RGB to gray like Pillow's convert("L"), by ITU-R 601-2 in fixed point. */
static void make_gray(const uint8_t *rgb, size_t n, uint8_t *out)
{
	for (size_t i = 0; i < n; i++, rgb += 3)
		out[i] = (uint8_t)((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u +
					   0x8000) >>
				   16);
}

static void make_fill(
	const uint8_t colour[static 3], enum pixel_mode mode, uint8_t pixel[static 8])
{
	float number = colour[0];
	uint16_t numbers[4] = {colour[0], colour[0], colour[0], colour[0]};
	switch (pixel_modes[mode].bytes) {
	case 2:
		memcpy(pixel, numbers, sizeof(numbers));
		break;
	case 4:
		memcpy(pixel, &number, sizeof(number));
		break;
	default:
		memset(pixel, colour[0], 8);
		if (mode == PIXELS_L)
			make_gray(colour, 1, pixel);
		else if (mode == PIXELS_RGB)
			memcpy(pixel, colour, 3);
	}
}

static void fill(struct tensor *tensor, const uint8_t colour[static 3])
{
	size_t bytes = tensor_pixel_bytes(tensor->shape);
	uint8_t pixel[8];
	make_fill(colour, tensor->shape.mode, pixel);
	uint64_t n = tensor_shape_bytes(tensor->shape);
	if (bytes == 1)
		memset(tensor->data, pixel[0], n);
	for (uint64_t i = 0; bytes > 1 && i < n; i += bytes)
		memcpy(tensor->data + i, pixel, bytes);
}

/* Returns the decoded pixels, in gray if the tensor is gray, or NULL if there is no memory. */
static const uint8_t *in_mode(
	struct image_decoder *decoder, const struct transform *transform)
{
	const struct image_part *part = &transform->part;
	size_t n = (size_t)part->rows.length * part->columns.length;
	if (transform->shape.mode == transform->mode)
		return decoder->pixels.data;
	ensure(transform->mode == PIXELS_RGB && transform->shape.mode == PIXELS_L);
	if (buffer_reserve(&decoder->gray, n))
		return NULL;
	make_gray(decoder->pixels.data, n, decoder->gray.data);
	return decoder->gray.data;
}

static int resize_and_crop(struct image_decoder *decoder,
	const struct transform *transform, struct tensor *tensor)
{
	const struct resample_window *window = &transform->window;
	const struct image_part *part = &transform->part;
	const struct image_part *needed = &transform->needed;
	struct crop_axis rows = window->rows, columns = window->columns;
	size_t pixel = tensor_pixel_bytes(transform->shape);
	size_t in_stride = part->columns.length * pixel;
	size_t stride = transform->shape.width * pixel;
	const uint8_t *pixels = in_mode(decoder, transform);
	if (!pixels)
		return -ENOMEM;
	if (rows.length < transform->shape.height ||
		columns.length < transform->shape.width)
		fill(tensor, transform->fill);
	return resampler_run(decoder->resampler, window,
		pixels + (needed->rows.first - part->rows.first) * in_stride +
			(needed->columns.first - part->columns.first) * pixel,
		in_stride, tensor->data + rows.pad * stride + columns.pad * pixel,
		stride);
}

/* Turns the image in decoder->pixels by its EXIF orientation, then makes the tensor. */
static int turn(const struct decoding *decoding, const struct transform *transform,
	struct tensor *tensor)
{
	struct image_decoder *decoder = decoding->decoder;
	struct tensor_shape image = decoding->image->shape;
	unsigned orientation = decoding->image->orientation;
	image.mode = transform->mode;
	struct buffer pixels = decoder->pixels;
	if (nothing_to_do(transform)) {
		orient(image, orientation, pixels.data, tensor->data);
		return 0;
	}
	if (buffer_reserve(&decoder->turned, tensor_shape_bytes(image)))
		return -ENOMEM;
	orient(image, orientation, pixels.data, decoder->turned.data);
	decoder->pixels = decoder->turned;
	decoder->turned = pixels;
	return resize_and_crop(decoder, transform, tensor);
}

static int make_turned_tensor(
	const struct decoding *decoding, struct image_output *output)
{
	struct image_decoder *decoder = decoding->decoder;
	struct tensor_shape seen = preparation_image(output->preparation,
		decoding->image->shape, decoding->image->orientation);
	struct transform transform = plan(decoding, output->preparation, seen, seen);
	transform.part = whole(seen);
	struct image_part part = whole(decoding->image->shape);
	int err = decoding->codec->begin ? decoding->codec->begin(decoding->state, &part)
					 : 0;
	if (!err)
		err = new_tensor(decoding, transform.shape, output);
	if (!err)
		err = read_part(decoding, &part);
	if (err)
		return err;
	uint64_t begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	err = turn(decoding, &transform, output->tensor);
	decoder->usage.resample_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun;
	return err ? fail_memory(decoding->message) : 0;
}

static struct crop_axis cover(struct crop_axis a, struct crop_axis b)
{
	uint32_t first = a.first < b.first ? a.first : b.first;
	uint32_t end_a = a.first + a.length, end_b = b.first + b.length;
	uint32_t end = end_a > end_b ? end_a : end_b;
	return (struct crop_axis){.first = first, .length = end - first};
}

static int resize_one(const struct decoding *decoding, struct tensor_shape decoded,
	const struct image_part *part, struct image_output *output)
{
	struct transform transform =
		plan(decoding, output->preparation, decoding->image->shape, decoded);
	transform.part = *part;
	int err = new_tensor(decoding, transform.shape, output);
	return err ? err : resize_and_crop(decoding->decoder, &transform, output->tensor);
}

/* Makes the tensors from one decode of the smallest part that all of them need. */
static int make_tensors(
	const struct decoding *decoding, struct image_output *outputs, size_t n)
{
	const struct preparation *first = outputs[0].preparation;
	struct tensor_shape image = decoding->image->shape, decoded = image;
	if (first->approximate && decoding->codec->scale)
		decoded = decoding->codec->scale(
			decoding->state, preparation_resized(first, image));
	struct transform all = plan(decoding, first, image, decoded);
	for (size_t i = 0; n > 1 && i < n; i++) {
		const struct preparation *preparation = outputs[i].preparation;
		struct transform one = plan(decoding, preparation, image, image);
		ensure(!preparation->approximate && !preparation->exif &&
			!preparation->fills_truncated &&
			preparation->channels != CHANNELS_KEEP);
		all.needed.rows = cover(all.needed.rows, one.needed.rows);
		all.needed.columns = cover(all.needed.columns, one.needed.columns);
	}
	int err = begin(decoding, &all);
	if (!err && n == 1 && nothing_to_do(&all)) {
		err = new_tensor(decoding, all.shape, outputs);
		return err ? err
			   : decoding->codec->read(
				     decoding->state, outputs[0].tensor->data);
	}
	if (!err)
		err = read_part(decoding, &all.part);
	if (err)
		return err;
	uint64_t begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (size_t i = 0; !err && i < n; i++)
		err = resize_one(decoding, decoded, &all.part, &outputs[i]);
	decoding->decoder->usage.resample_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun;
	return err ? fail_memory(decoding->message) : 0;
}

static int check_shape(
	const struct encoded_image *image, struct tensor_shape shape, char *message)
{
	uint64_t pixels = (uint64_t)shape.height * shape.width;
	uint64_t limit = image->max_pixels ? image->max_pixels : IMAGE_MAX_PIXELS;
	if (pixels > limit)
		return image_fail(message, -EIO,
			"%" PRIu64 " pixels are more than the limit of %" PRIu64, pixels,
			limit);
	if (!same_shape(shape, image->shape))
		return image_fail(message, -ESTALE,
			"has %ux%u pixels, had %ux%u at the scan", shape.width,
			shape.height, image->shape.width, image->shape.height);
	return 0;
}

/* Sets decoding->mode, the mode of the pixels that the codec makes: the file's mode `mode` if
 * channels are kept and the codec can keep them, otherwise RGB. Returns -ESTALE if channels are
 * kept, but the scan of the dataset has found another mode than `mode`. */
static int keep_mode(struct decoding *decoding, const struct preparation *preparation,
	enum pixel_mode mode)
{
	decoding->mode = PIXELS_RGB;
	if (preparation->channels != CHANNELS_KEEP)
		return 0;
	if (mode != decoding->image->shape.mode)
		return image_fail(decoding->message, -ESTALE, "is %s, was %s at the scan",
			pixel_modes[mode].name,
			pixel_modes[decoding->image->shape.mode].name);
	if (decoding->codec->keeps)
		decoding->mode = mode;
	return 0;
}

static int check_fault(char *message)
{
	int err = fault_hit("load.decode");
	return err ? image_fail(message, err, "load.decode: %s, as asked for",
			     strerror(-err))
		   : 0;
}

/* Returns the index of the codec that recognises the image, or N_CODECS. */
static size_t find_codec(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < N_CODECS; i++) {
		const struct codec *codec = codecs[i];
		if (codec->knows ? codec->knows(data, size)
				 : size >= codec->magic_bytes &&
					   memcmp(data, codec->magic,
						   codec->magic_bytes) == 0)
			return i;
	}
	return N_CODECS;
}

const struct codec *codec_find(const uint8_t *data, size_t size)
{
	size_t i = find_codec(data, size);
	return i < N_CODECS ? codecs[i] : NULL;
}

static int decode(struct image_decoder *decoder, const struct encoded_image *image,
	struct image_output *outputs, size_t n, char *message)
{
	size_t i = find_codec(image->data, image->size);
	if (i == N_CODECS)
		return image_fail_unknown(message, image->data, image->size);
	struct decoding decoding = {.decoder = decoder,
		.image = image,
		.codec = codecs[i],
		.state = decoder->codec_states[i],
		.message = message};
	struct tensor_shape shape;
	int err = check_fault(message);
	if (!err && check_preamble[i])
		err = check_preamble[i](message, image->data, image->size);
	if (err)
		return err;
	const struct codec_input input = {.data = image->data,
		.size = image->size,
		.keep = outputs[0].preparation->channels == CHANNELS_KEEP,
		.fill = outputs[0].preparation->fills_truncated,
		.message = message,
		.scratch = &decoder->scratch};
	err = codecs[i]->open(decoding.state, &input, &shape);
	if (!err)
		err = check_shape(image, shape, message);
	if (!err)
		err = keep_mode(&decoding, outputs[0].preparation, shape.mode);
	bool turns = outputs[0].preparation->exif && image->orientation > 1;
	if (!err)
		err = turns ? make_turned_tensor(&decoding, outputs)
			    : make_tensors(&decoding, outputs, n);
	decoder->usage.bytes = held_bytes(decoder);
	codec_close(codecs[i], decoding.state);
	buffer_trim(&decoder->scratch);
	return err;
}

int image_decode(struct image_decoder *decoder, const struct encoded_image *image,
	struct image_output *outputs, size_t n, char message[static IMAGE_MESSAGE])
{
	struct image_usage *usage = &decoder->usage;
	uint64_t begun = clock_ns(CLOCK_THREAD_CPUTIME_ID),
		 resample_ns = usage->resample_ns;
	for (size_t i = 0; i < n; i++) {
		ensure(!outputs[i].preparation->encoded);
		outputs[i].tensor = NULL;
	}
	int err = decode(decoder, image, outputs, n, message);
	usage->decode_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun -
			    (usage->resample_ns - resample_ns);
	return err;
}
