// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/tensor.h"

#include <string.h>

const struct pixel_mode_info pixel_modes[N_PIXEL_MODES] = {
	[PIXELS_RGB] = {"RGB", 3, 1, false},
	[PIXELS_L] = {"gray", 1, 1, false},
	[PIXELS_P] = {"indices of a palette", 1, 1, false},
	[PIXELS_LA] = {"gray with alpha", 2, 1, true},
	[PIXELS_RGBA] = {"RGBA", 4, 1, true},
	[PIXELS_L16] = {"gray of 16 bits", 1, 2, false},
	[PIXELS_LA16] = {"gray with alpha of 16 bits", 2, 2, true},
	[PIXELS_RGB16] = {"RGB of 16 bits", 3, 2, false},
	[PIXELS_RGBA16] = {"RGBA of 16 bits", 4, 2, true},
	[PIXELS_F] = {"gray of float32", 1, 4, false},
};

enum pixel_mode pixel_mode_of(unsigned channels, unsigned bits, bool palette)
{
	for (int mode = 0; mode < N_PIXEL_MODES; mode++)
		if (pixel_modes[mode].channels == channels &&
			8u * pixel_modes[mode].bytes == bits &&
			(mode == PIXELS_P) == palette)
			return (enum pixel_mode)mode;
	return PIXELS_RGB;
}

uint64_t tensor_shape_bytes(struct tensor_shape shape)
{
	uint64_t bytes;
	if (__builtin_mul_overflow((uint64_t)shape.height * shape.width,
		    tensor_pixel_bytes(shape), &bytes) ||
		(shape.frames && __builtin_mul_overflow(bytes, shape.frames, &bytes)))
		return UINT64_MAX;
	return bytes;
}

struct tensor *tensor_new(struct tensor_shape shape, uint64_t bytes)
{
	size_t size;
	struct tensor *tensor = NULL;
	if (!__builtin_add_overflow(bytes, sizeof(*tensor), &size))
		tensor = malloc(size);
	if (!tensor)
		return NULL;
	*tensor = (struct tensor){.shape = shape,
		.bytes = bytes,
		.data = (uint8_t *)(tensor + 1),
		.holds = 1};
	return tensor;
}

void tensor_view(const struct tensor *tensor, bool second, struct tensor *ret)
{
	struct tensor_shape shape = second ? tensor->second : tensor->shape;
	uint64_t bytes = tensor->second_at ? tensor_shape_bytes(shape) : tensor->bytes;
	*ret = (struct tensor){.shape = shape,
		.bytes = bytes,
		.data = tensor->data + (second ? tensor->second_at : 0)};
}

/* Copies the bytes, because decoding directly into mapped memory of the file would cost two page
 * faults per page. */
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
		.head_bytes = head_bytes,
		.second = tensor->second,
		.second_at = tensor->second_at,
		.holds = 1};
	memcpy(made + 1, head, head_bytes);
	if (backing_new(backings, parts, 2, &made->file) != 0) {
		free(made);
		return tensor;
	}
	made->data = made->file.bytes + head_bytes;
	tensor_free(tensor);
	return made;
}

struct tensor *tensor_hold(struct tensor *tensor)
{
	atomic_fetch_add(&tensor->holds, 1);
	return tensor;
}

void tensor_free(struct tensor *tensor)
{
	if (!tensor || atomic_fetch_sub(&tensor->holds, 1) > 1)
		return;
	backing_free(&tensor->file);
	free(tensor);
}
