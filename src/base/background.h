// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/*
 * Runs the daemon in the background. The process that the user started stays until the daemon is
 * ready, so that messages appear on the terminal, and the exit status tells whether the daemon has
 * started.
 *
 *   Flow: the supervisor calls background_begin before it starts an engine, and background_ready
 *         when the first engine serves the mount; this engine has called background_leave. A
 *         process without a supervisor calls background_begin before it opens any file, lets the
 *         log write to a file (log_to_file), and calls background_ready.
 *   Threads: background_begin while there is one thread only; background_ready once.
 *   Errors: -errno.
 */

/* Opens closed standard descriptors, so that no file gets their numbers. main begins with this. */
void background_fill_stdio(void);

/* Forks. Returns 0 in the child, and does not return in the parent. The parent exits with 0 when
 * the child calls background_ready. If the child ends without this call, the parent exits with the
 * child's status, or with 1 if this status is 0 or a signal ended the child. Until background_ready
 * both processes get the terminal's signals, and the child gets SIGTERM if the parent is killed. */
must_check int background_begin(void);

/* Puts the child into a new session, calls background_leave, and lets the parent exit. Does nothing
 * if background_begin was not called. */
void background_ready(void);

/* Changes to the root directory. Connects the standard descriptors with /dev/null. */
void background_leave(void);
