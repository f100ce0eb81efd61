// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdio.h>

/*
 * What a bug leaves in the log, so that it can be understood later.
 *
 *   ensure fails           its text, then as below, then the state: jobs and counters
 *   SIGSEGV, BUS, ABRT     the signal, a backtrace of the thread, the locks that it holds
 *
 * and then the process ends by the signal, as it would without this.
 *
 *   Flow: main calls crash_install first, and crash_dump_by when there is a state.
 *   Threads: any. Each thread gets a stack for signals when it takes its first lock, so
 *         that also a stack that overflows is told of.
 *   Errors: none. A bug within the dump of the state ends the dump.
 */

/* Handlers that are there already, as a sanitizer's, stay. */
void crash_install(void);

/*
 * Prints the state, with whatever lock held, and waits for no lock for long. NULL: there
 * is none any more.
 */
void crash_dump_by(void (*dump)(void *context, FILE *out), void *context);

/* Gives the calling thread a stack for signals. */
void crash_prepare_thread(void);

/* Backtrace, locks, state. Called once, by ensure. */
void crash_tell_bug(void);
