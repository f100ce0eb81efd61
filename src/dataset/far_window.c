// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/far_window.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES ((size_t)16 << 10) /* enough for nearly any image's header */
#define MOST_BYTES ((size_t)1 << 20)

static int make_room(struct far_window *window, size_t bytes)
{
	uint8_t *grown = realloc(window->data, bytes);
	if (!grown) {
		snprintf(window->error.message, sizeof(window->error.message),
			"no memory");
		return -ENOMEM;
	}
	window->data = grown;
	return 0;
}

static int judge(const struct far_window *window, int err)
{
	char *none = NULL,
	     *copy = err && window->error.denied ? strdup(window->error.message) : NULL;
	if (copy && !atomic_compare_exchange_strong(window->denied, &none, copy))
		free(copy);
	return err;
}

int far_window_look(struct far_window *window)
{
	size_t bytes = FIRST_BYTES;
	int err = make_room(window, bytes);
	if (!err)
		err = judge(window,
			far_look(&window->object, window->data, &bytes, &window->error));
	window->begin = 0;
	window->bytes = err ? 0 : bytes;
	window->ahead = FIRST_BYTES;
	return err;
}

static int fill(struct far_window *window, uint64_t offset)
{
	uint64_t end = window->begin + window->bytes;
	bool goes_on =
		window->bytes > 0 && offset >= end && offset - end <= window->ahead;
	size_t ahead = goes_on ? window->ahead * 2 : FIRST_BYTES;
	if (ahead > MOST_BYTES)
		ahead = MOST_BYTES;
	if (ahead > window->object.bytes - offset)
		ahead = (size_t)(window->object.bytes - offset);
	window->bytes = 0;
	int err = make_room(window, ahead);
	if (!err)
		err = judge(window, far_read_again(&window->object, offset, ahead,
					    window->data, &window->error));
	window->begin = offset;
	window->bytes = err ? 0 : ahead;
	window->ahead = ahead;
	return err;
}

ssize_t far_window_read(
	struct far_window *window, void *ret, size_t bytes, uint64_t offset)
{
	if (offset >= window->object.bytes || bytes == 0)
		return 0;
	if ((offset < window->begin || offset >= window->begin + window->bytes) &&
		fill(window, offset) != 0) {
		errno = EIO;
		return -1;
	}
	size_t from = (size_t)(offset - window->begin), n = window->bytes - from;
	if (n > bytes)
		n = bytes;
	memcpy(ret, window->data + from, n);
	return (ssize_t)n;
}
