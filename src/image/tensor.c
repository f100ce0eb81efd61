// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/tensor.h"

#include <string.h>

struct tensor *tensor_new(struct tensor_shape shape, uint64_t bytes)
{
	struct tensor *tensor = malloc(sizeof(*tensor) + bytes);
	if (!tensor)
		return NULL;
	*tensor = (struct tensor){
		.shape = shape, .bytes = bytes, .data = (uint8_t *)(tensor + 1)};
	return tensor;
}

/* A copy: decoding into the file would have it touch each of its pages twice. */
struct tensor *tensor_to_file(struct tensor *tensor, struct backings *backings,
	const uint8_t *head, size_t head_bytes)
{
	struct tensor *made = malloc(sizeof(*made) + head_bytes);
	if (!made)
		return tensor;
	struct iovec parts[] = {{.iov_base = made + 1, .iov_len = head_bytes},
		{.iov_base = tensor->data, .iov_len = tensor->bytes}};
	*made = (struct tensor){.shape = tensor->shape,
		.bytes = tensor->bytes,
		.head = (const uint8_t *)(made + 1),
		.head_bytes = head_bytes};
	memcpy(made + 1, head, head_bytes);
	if (backing_new(backings, parts, 2, &made->file) != 0) {
		free(made);
		return tensor;
	}
	made->data = made->file.bytes + head_bytes;
	tensor_free(tensor);
	return made;
}

void tensor_free(struct tensor *tensor)
{
	if (!tensor)
		return;
	backing_free(&tensor->file);
	free(tensor);
}

/* Without a resize there is nothing that accuracy changes. */
static bool approximates(const struct preparation *preparation)
{
	return preparation->approximate &&
	       (preparation->resize_short || preparation->resize_width);
}

static bool orients(const struct preparation *preparation)
{
	return preparation->exif && !preparation->encoded;
}

bool preparation_equal(const struct preparation *a, const struct preparation *b)
{
	return a->encoded == b->encoded && a->resize_short == b->resize_short &&
	       a->resize_width == b->resize_width &&
	       a->resize_height == b->resize_height && a->crop_width == b->crop_width &&
	       a->crop_height == b->crop_height && approximates(a) == approximates(b) &&
	       orients(a) == orients(b);
}

struct tensor_shape preparation_image(const struct preparation *preparation,
	struct tensor_shape image, unsigned orientation)
{
	if (!orients(preparation) || orientation < 5)
		return image;
	return (struct tensor_shape){.height = image.width, .width = image.height};
}

/* torchvision.transforms.functional._compute_resized_output_size for an int */
static struct tensor_shape resize_short_side(uint32_t size, struct tensor_shape image)
{
	bool tall = image.width <= image.height;
	uint64_t shorter = tall ? image.width : image.height;
	uint64_t longer = tall ? image.height : image.width;
	uint32_t other = shorter ? (uint32_t)(size * longer / shorter) : 0;
	return tall ? (struct tensor_shape){.height = other, .width = size}
		    : (struct tensor_shape){.height = size, .width = other};
}

struct tensor_shape preparation_resized(
	const struct preparation *preparation, struct tensor_shape image)
{
	if (preparation->resize_short)
		return resize_short_side(preparation->resize_short, image);
	if (preparation->resize_width)
		return (struct tensor_shape){.height = preparation->resize_height,
			.width = preparation->resize_width};
	return image;
}

struct tensor_shape preparation_output(
	const struct preparation *preparation, struct tensor_shape image)
{
	if (preparation->encoded)
		return (struct tensor_shape){0};
	if (preparation->crop_width)
		return (struct tensor_shape){.height = preparation->crop_height,
			.width = preparation->crop_width};
	return preparation_resized(preparation, image);
}

uint64_t preparation_bytes(const struct preparation *preparation,
	struct tensor_shape image, uint64_t file_bytes)
{
	if (preparation->encoded)
		return file_bytes;
	struct tensor_shape shape = preparation_output(preparation, image);
	return (uint64_t)shape.height * shape.width * 3;
}

bool preparation_fixed_size(const struct preparation *preparation)
{
	return preparation->crop_width || preparation->resize_width;
}
