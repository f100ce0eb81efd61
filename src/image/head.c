// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/head.h"
#include "base/ensure.h"

#include <string.h>

/* Makes the head as version 1.0 of NumPy's NEP 1 describes it. */
void head_npy(
	const char *type, const uint32_t *shape, size_t axes, size_t bytes, uint8_t *head)
{
	const size_t start = 10;
	const char *quote = *type == '[' ? "" : "'";
	char *text = (char *)head + start, sizes[SHAPE_TEXT];
	size_t room = bytes - start;
	ensure(bytes >= HEAD_SIZE && bytes % 64 == 0 && room <= UINT16_MAX);
	memset(head, ' ', bytes);
	memcpy(head, "\x93NUMPY\x01\x00", 8);
	head[8] = (uint8_t)room;
	head[9] = (uint8_t)(room >> 8);
	shape_print(shape, axes, sizes);
	int n = snprintf(text, room,
		"{'descr': %s%s%s, 'fortran_order': False, 'shape': (%s), }", quote, type,
		quote, sizes);
	ensure(n > 0 && (size_t)n < room - 1);
	text[n] = ' ';
	head[bytes - 1] = '\n';
}

size_t head_ppm(struct tensor_shape shape, uint8_t head[static HEAD_SIZE])
{
	return (size_t)snprintf((char *)head, HEAD_SIZE, "P%c\n%u %u\n255\n",
		shape.mode == PIXELS_L ? '5' : '6', shape.width, shape.height);
}
