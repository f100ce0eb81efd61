// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/*
 * Runs the daemon in the background, with a visible start: the process that was started
 * stays until the daemon is ready. So messages appear on the terminal, and the exit status
 * tells whether the daemon started.
 *
 *   Flow: main calls background_begin before anything else, sets up the rest in the
 *         child, sends the log elsewhere (log_to_file), and calls background_ready.
 *   Owns: a pair of sockets between the two processes.
 *   Threads: background_begin while there is one thread only; background_ready once.
 *   Errors: -errno.
 */

/* Opens standard descriptors that the starting process has closed, so that no other file gets
 * their numbers. main calls it first; background_begin calls it, too. */
void background_fill_stdio(void);

/*
 * Returns 0 in the child. The parent does not return: after background_ready it exits
 * with 0. If the child ends before, the parent exits with the child's status, or with 1
 * if that is 0 or a signal ended the child. Until then both receive the terminal's
 * signals, and the child gets SIGTERM when the parent is killed.
 */
must_check int background_begin(void);

/*
 * Makes the child a session of its own in the root directory, and connects its standard input
 * and output with /dev/null. The parent exits. Does nothing without background_begin.
 */
void background_ready(void);

/* Moves the calling process, which belongs to one in the background, to the root directory,
 * and connects its standard input and output with /dev/null. */
void background_leave(void);
