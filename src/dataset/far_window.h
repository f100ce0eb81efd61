// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "far/far.h"

#include <sys/types.h>

/*
 * A window: a part of a remote object that a scan keeps in memory. A request reads the needed bytes
 * and, in advance, bytes that will probably be needed next. After a jump it reads 16 KiB. If a read
 * continues where the last request ended, it reads twice as many bytes as the last request.
 *
 *   Flow: all fields except the object are 0 at first; far_window_read; far_window_free.
 *   Threads: one at a time.
 */
struct far_window {
	struct far_object object;
	uint8_t *data;
	size_t room;
	uint64_t begin; /* offset in the object at which the window begins */
	size_t bytes;	/* bytes in the window */
	size_t ahead;	/* number of bytes that the last request asked for */
	struct far_error error;
	/* pointer that is set to the text of the first answer in which the server refused the
	 * credentials */
	_Atomic(char *) *denied;
};

/* Reads like pread. -1: an error; window->error has the reason. */
ssize_t far_window_read(
	struct far_window *window, void *ret, size_t bytes, uint64_t offset);
/* Fills the window with the object's first bytes. Sets the object's size and version from the
 * server's answer. */
must_check int far_window_look(struct far_window *window);
void far_window_free(struct far_window *window);
