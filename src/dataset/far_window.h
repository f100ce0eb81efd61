// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "far/far.h"

#include <sys/types.h>

/*
 * What a scan reads of an object far away: what it needs and what probably comes next, in
 * one request. After a jump that is little, and twice as much each time that the reads go
 * on where the last one ended.
 *
 *   Flow: zero-initialised but for the object; far_window_read; far_window_free.
 *   Threads: one at a time.
 */
struct far_window {
	struct far_object object;
	uint8_t *data;
	size_t room;
	uint64_t begin; /* of what is there */
	size_t bytes;	/* likewise */
	size_t ahead;	/* to read at once */
	struct far_error error;
	_Atomic(char *) *denied; /* gets the message if the source refuses all, once */
};

/* As pread; -1: the window's error says why. */
ssize_t far_window_read(
	struct far_window *window, void *ret, size_t bytes, uint64_t offset);
/* Fills the object's size and version, and the window with its begin. */
must_check int far_window_look(struct far_window *window);
void far_window_free(struct far_window *window);
