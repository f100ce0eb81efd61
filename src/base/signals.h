// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <pthread.h>

/*
 * Signals of a process that must not leave without unmounting.
 *
 *   Flow: main calls signals_begin first, signals_hold before it mounts, and
 *         signals_release when libfuse's handlers are there.
 *   Threads: only the thread that serves the mount takes signals; all others are made by
 *         signals_thread, or while signals are held.
 *   Errors: none, but for -errno of signals_thread.
 */

/* Signals that mean nothing to us are ignored. SIGQUIT and SIGXCPU end the process as
 * SIGTERM does. */
void signals_begin(void);

/* The same for a process that ends with another one: none of them ends it. */
void signals_begin_supervisor(void);

/* Those that end the process wait, from here to there. */
void signals_hold(void);
void signals_release(void);

/* As pthread_create; the thread takes no signals. */
must_check int signals_thread(pthread_t *ret, void *(*run)(void *context), void *context);

/* The calling thread can be woken from now on: a call of the kernel's that waits in the
 * thread returns EINTR. One that begins after signals_wake waits, so the thread that wakes
 * does so until it sees what it wants. */
void signals_wakeable(void);
void signals_wake(pid_t thread);
