// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdio.h>

/*
 * Sends one request of joaderctl to the daemon, and prints messages; the protocol is in
 * src/control/control.h.
 *
 *   Threads: none.
 */

void complain(const char *format, ...) printf_like(1, 2);
/* Sends messages of joaderctl and of the daemon to `out`; NULL: to standard error. */
void complain_to(FILE *out);

/* Reads until the end of file. Returns 0 or -errno. The caller frees *ret, which ends with \0. */
must_check int read_all(int fd, char **ret, size_t *ret_bytes);

/*
 * Sends the arguments to the socket `path`, prints the answer to `out`, or the error, and returns
 * the exit status. If `descriptor` is not NULL, also sends *descriptor, then closes it and sets it
 * to -1 before it reads the answer.
 */
int request(const char *path, const char *const *arguments, size_t n, int *descriptor,
	FILE *out);
