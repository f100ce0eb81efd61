// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Sends requests to the daemon by the protocol of src/control/control.h, and prints messages. */

#define EXIT_USAGE 2

/* Prints a message. Returns false. */
bool complain(const char *format, ...) printf_like(1, 2);
/* Print a message; the value is the exit status. */
#define exit_failure(...) (complain(__VA_ARGS__), EXIT_FAILURE)
#define exit_usage(...) (complain(__VA_ARGS__), EXIT_USAGE)
/* Reports a mistake in an ini, for config_parse_daemon. */
void complain_of_ini(void *context, const char *message);
/* Lets all later error messages, of joaderctl and of the daemon, be printed to `out`; NULL: to
 * standard error. */
void complain_to(FILE *out);

/* Reads fd to its end. Returns 0 or -errno. The caller frees *ret, which ends with \0. */
must_check int read_all(int fd, char **ret, size_t *ret_bytes);
/* Reads a file as read_all does. The name "-" stands for standard input. */
must_check int read_file(const char *file, char **ret, size_t *ret_bytes);

/* Sends the arguments to the socket `path`, and prints the answer to `out`, or the error. Returns
 * the exit status. *descriptor is sent, too, and is closed and set to -1 before the answer is read.
 * If `descriptor` is NULL, none is sent. */
int request(const char *path, const char *const *arguments, size_t n, int *descriptor,
	FILE *out);
/* Sends the arguments. *ret: the answer, which the caller frees. Returns false after a failure,
 * which was printed. */
bool request_text(const char *path, const char *const *arguments, size_t n, char **ret);
