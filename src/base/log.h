// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdio.h>

/*
 * Messages for the user: "joaderfs: <text>" on standard error; after log_to_file(), "<UTC time>
 * <text>" in that file. A problem is logged once, where its detail is known.
 *
 *   Threads: any.
 */

void log_error(const char *format, ...) printf_like(1, 2);
void log_warn(const char *format, ...) printf_like(1, 2);
void log_info(const char *format, ...) printf_like(1, 2);

/* Makes the log print this thread's messages to `out`, too, until a call with NULL. */
void log_also_to(FILE *out);

/* Returns the descriptor that messages are written to. May be called by a signal handler. */
int log_descriptor(void);

/* Makes the log save messages, until log_to_file writes them to its file. Must be called while
 * there is only one thread. */
void log_keep(void);

/* Makes the log append messages to the file. Returns 0 or -errno. */
must_check int log_to_file(const char *path);
