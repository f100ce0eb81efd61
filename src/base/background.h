// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/*
 * Running in the background, with a visible start: the process that was started stays
 * until the daemon is ready. So messages appear on the terminal, and the exit status
 * tells whether the daemon started.
 *
 *   Flow: main calls background_begin before anything else, sets up the rest in the
 *         child, sends the log elsewhere (log_to_file), and calls background_ready.
 *   Owns: a pair of sockets between the two.
 *   Threads: background_begin while there is one thread only; background_ready once.
 *   Errors: -errno.
 */

/* The starting process may have closed standard descriptors. No other file may get their
 * numbers: the first call of main. background_begin does it, too. */
void background_fill_stdio(void);

/*
 * Returns 0 in the child. The parent does not return: after background_ready it exits
 * with 0. If the child ends before, the parent exits with the child's status, or with 1
 * if that is 0 or a signal ended the child. Until then both receive the terminal's
 * signals, and the child gets SIGTERM when the parent is killed.
 */
must_check int background_begin(void);

/*
 * The child becomes a session of its own in the root directory, standard input and output
 * go to /dev/null, and the parent exits. Without background_begin it does nothing.
 */
void background_ready(void);

/* What becomes of a process that belongs to another one in the background: the root
 * directory, and /dev/null for standard input and output. */
void background_leave(void);
