// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdio.h>

/*
 * Writes information about a bug to the log: for a signal such as SIGSEGV the signal, a backtrace
 * of the thread, and the locks that it holds; for a failed `ensure` its text, a backtrace, the
 * locks, and the state of the daemon (jobs and counters). Then the signal ends the process, as it
 * would without this module.
 *
 *   Flow: main calls crash_install first, and crash_dump_by before jobs begin.
 *   Threads: any. Each thread gets a stack for signals when it takes its first lock, so that a
 *         stack overflow is logged, too.
 *   Errors: none. A bug within the dump of the state ends the dump.
 */

/* Handles signals that bugs cause. Earlier SA_SIGINFO handlers (sanitizers') are still called. */
void crash_install(void);

/* Sets the function that prints the state. It may be called with any lock held, and must not wait
 * long for a lock. NULL: there is no state any more. */
void crash_dump_by(void (*dump)(void *context, FILE *out), void *context);

/* Gives the calling thread a stack for signals. */
void crash_prepare_thread(void);

/* Logs a backtrace, the thread's locks and the daemon's jobs and counters. Called when `ensure`
 * fails. */
void crash_tell_bug(void);
