// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdio.h>

/*
 * Messages for the person who runs the daemon: "joaderfs: <text>" on standard error;
 * after log_to_file(), "<UTC time> <text>" in that file. A problem is logged once, where
 * its detail is known.
 *
 *   Threads: any.
 */

void log_error(const char *format, ...) printf_like(1, 2);
void log_warn(const char *format, ...) printf_like(1, 2);
void log_info(const char *format, ...) printf_like(1, 2);

/* Copies the messages of this thread to `out`, too, from now on; NULL: not any more. */
void log_also_to(FILE *out);

/* Returns the descriptor that messages go to now. A signal handler may call it. */
int log_descriptor(void);

/* Keeps messages from now on, and log_to_file writes them into its file, too. Called before
 * there are other threads. */
void log_keep(void);

/* Appends messages to the file from now on. Returns 0 or -errno. */
must_check int log_to_file(const char *path);
