// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/pixel_type.h"

size_t pixel_type_bytes(struct pixel_type type, struct tensor_shape shape)
{
	static const size_t bytes[] = {[DTYPE_FLOAT32] = 4, [DTYPE_FLOAT16] = 2};
	return type.dtype == DTYPE_UINT8 ? tensor_number_bytes(shape) : bytes[type.dtype];
}

const char *pixel_type_npy(struct pixel_type type, struct tensor_shape shape)
{
	static const char *const kept[] = {
		[1] = "|u1", [2] = OUR_ORDER "u2", [4] = OUR_ORDER "f4"};
	static const char *const names[] = {
		[DTYPE_FLOAT32] = OUR_ORDER "f4", [DTYPE_FLOAT16] = OUR_ORDER "f2"};
	return type.dtype == DTYPE_UINT8 ? kept[tensor_number_bytes(shape)]
					 : names[type.dtype];
}

size_t pixel_type_axes(
	struct pixel_type type, struct tensor_shape shape, uint32_t ret[static 4])
{
	const uint32_t channels = tensor_channels(shape);
	size_t n = 0;
	if (shape.frames)
		ret[n++] = shape.frames;
	if (type.axes == AXES_CHW)
		ret[n++] = channels;
	ret[n++] = shape.height;
	ret[n++] = shape.width;
	if (type.axes == AXES_HWC)
		ret[n++] = channels;
	return n;
}
