// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "far/far.h"

#include <sys/types.h>

/*
 * A window on an object far away, for scans. A request reads the needed bytes and bytes that
 * probably come next: few after a jump, and twice as many each time that reads go on where the
 * last request ended.
 *
 *   Flow: all fields but the object are 0 at first; far_window_read; far_window_free.
 *   Threads: one at a time.
 */
struct far_window {
	struct far_object object;
	uint8_t *data;
	size_t room;
	uint64_t begin; /* offset of the window in the object */
	size_t bytes;	/* bytes in the window */
	size_t ahead;	/* bytes of the last request */
	struct far_error error;
	_Atomic(char *)
		*denied; /* gets the first message of a refusal of the credentials */
};

/* Reads as pread does; -1: the window's error says why. */
ssize_t far_window_read(
	struct far_window *window, void *ret, size_t bytes, uint64_t offset);
/* Sets the object's size and version, and fills the window with the object's first bytes. */
must_check int far_window_look(struct far_window *window);
void far_window_free(struct far_window *window);
