// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "far/far.h"

#include <sys/types.h>

/*
 * A window: a part of a remote object that a scan keeps in memory. A read that begins outside of
 * the window makes a request to the server, and the received bytes replace the window. A read that
 * begins at the window's end, or up to `ahead` bytes behind it, requests twice as many bytes as the
 * last request, up to 1 MiB; other reads request 16 KiB.
 *
 *   Flow: the caller sets `object` and `denied`, all else to 0; far_window_read; free(window.data).
 *   Threads: one at a time.
 */
struct far_window {
	struct far_object object;
	uint8_t *data;
	uint64_t begin; /* offset of the window in the object */
	size_t bytes;
	size_t ahead; /* bytes of the last request */
	struct far_error error;
	_Atomic(char *) *denied; /* first answer that refused the credentials */
};

/* Reads like pread. -1: an error; window->error has the reason. */
ssize_t far_window_read(
	struct far_window *window, void *ret, size_t bytes, uint64_t offset);
/* Fills the window with the object's first bytes. Sets object.bytes and object.mtime_ns. */
must_check int far_window_look(struct far_window *window);
