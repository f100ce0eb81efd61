// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/buffer.h"

#include <errno.h>
#include <stdlib.h>

int buffer_reserve(struct buffer *buffer, size_t size)
{
	if (size <= buffer->size)
		return 0;
	buffer_free(buffer);
	buffer->data = malloc(size);
	if (!buffer->data)
		return -ENOMEM;
	buffer->size = size;
	return 0;
}

void buffer_trim(struct buffer *buffer)
{
	if (buffer->size > KEEP_BYTES)
		buffer_free(buffer);
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){0};
}
