// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/head.h"
#include "base/ensure.h"
#include "image/pixel_type.h"

#include <string.h>

/* Makes the head as version 1.0 of NumPy's NEP 1 describes it. */
void head_npy(
	const char *type, const uint32_t *shape, size_t axes, size_t bytes, uint8_t *head)
{
	const size_t start = 10;
	char *text = (char *)head + start;
	size_t room = bytes - start;
	ensure(bytes >= HEAD_SIZE && bytes % 64 == 0 && room <= UINT16_MAX);
	memset(head, ' ', bytes);
	memcpy(head, "\x93NUMPY\x01\x00", 8);
	head[8] = (uint8_t)room;
	head[9] = (uint8_t)(room >> 8);
	int n = snprintf(
		text, room, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
	for (size_t i = 0; i < axes; i++)
		n += snprintf(
			text + n, room - (size_t)n, "%s%u", i ? ", " : "", shape[i]);
	/* A Python tuple of one element ends with a comma. */
	n += snprintf(text + n, room - (size_t)n, "%s), }", axes == 1 ? "," : "");
	ensure(n > 0 && (size_t)n < room - 1);
	text[n] = ' ';
	head[bytes - 1] = '\n';
}

size_t head_make(
	enum head_kind kind, struct tensor_shape shape, uint8_t head[static HEAD_SIZE])
{
	switch (kind) {
	case HEAD_PPM:
		return (size_t)snprintf((char *)head, HEAD_SIZE, "P%c\n%u %u\n255\n",
			shape.mode == PIXELS_L ? '5' : '6', shape.width, shape.height);
	case HEAD_NPY:
		head_npy(pixel_type_npy((struct pixel_type){0}, shape),
			(uint32_t[]){shape.height, shape.width, tensor_channels(shape)},
			3, HEAD_SIZE, head);
		return HEAD_SIZE;
	case HEAD_EMPTY:
		break;
	}
	return 0;
}
