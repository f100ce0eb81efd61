// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdio.h>

/* Messages for the user. Without a log file: "joaderfs: <text>" on standard error. After
 * log_to_file(): "<UTC time> <text>" in that file. A problem is logged once, where its detail is
 * known. Any thread may log. */

void log_error(const char *format, ...) printf_like(1, 2);
void log_warn(const char *format, ...) printf_like(1, 2);
void log_info(const char *format, ...) printf_like(1, 2);

/* Prints this thread's messages to `out`, too, until a call with NULL. */
void log_also_to(FILE *out);

/* Returns the descriptor of the log. A signal handler may call this. */
int log_descriptor(void);

/* Saves messages until log_to_file. Call this while there is only one thread. */
void log_keep(void);

/* Appends saved and later messages to the file. Returns 0 or -errno. */
must_check int log_to_file(const char *path);
