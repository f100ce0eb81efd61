// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/tensor.h"

#include <string.h>

uint64_t tensor_shape_bytes(struct tensor_shape shape)
{
	uint64_t bytes;
	if (__builtin_mul_overflow(
		    (uint64_t)shape.height * shape.width, tensor_channels(shape), &bytes))
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

/* Copies the pixels: decoding into the file would touch each of its pages twice. */
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
