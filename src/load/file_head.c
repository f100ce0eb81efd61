// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "load/file_head.h"
#include "base/ensure.h"

#include <endian.h>
#include <string.h>

#define DICTIONARY_AT 10 /* after the magic, the version and the length */

size_t file_head_record(const char *type, const uint32_t shape[static 3], uint32_t label,
	uint8_t head[static FILE_HEAD_SIZE])
{
	const size_t room = HEAD_SIZE - 1 - DICTIONARY_AT; /* before the newline */
	char *text = (char *)head + DICTIONARY_AT;
	uint64_t number = htole64(label);
	head_npy(type, shape, 3, HEAD_SIZE, head);
	memset(text, ' ', room);
	int n = snprintf(text, room,
		"{'descr': [('label', '<i8'), ('image', '%s', (%u, %u, %u))], "
		"'fortran_order': False, 'shape': (), }",
		type, shape[0], shape[1], shape[2]);
	ensure(n > 0 && (size_t)n < room);
	text[n] = ' ';
	memcpy(head + HEAD_SIZE, &number, sizeof(number));
	return FILE_HEAD_SIZE;
}

size_t file_head_make(struct file_head head, struct tensor_shape shape,
	uint8_t ret[static FILE_HEAD_SIZE])
{
	const uint32_t axes[] = {shape.height, shape.width, tensor_channels(shape)};
	return head.record ? file_head_record("|u1", axes, head.label, ret)
			   : head_make(head.kind, shape, ret);
}
