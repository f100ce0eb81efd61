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

/* What this thread logs goes there, too; NULL: no more. */
void log_also_to(FILE *out);

/* Where messages go now. May be called by a signal handler. */
int log_descriptor(void);

/* What is logged from now on appears in the file of log_to_file, too. Before there are
 * other threads. */
void log_keep(void);

/* Appends to the file from now on. 0 or -errno. */
must_check int log_to_file(const char *path);
