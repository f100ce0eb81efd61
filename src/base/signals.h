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

/* Ignores signals that need no reaction, and makes SIGQUIT and SIGXCPU end the process like
 * SIGTERM. */
void signals_begin(void);

/* Ignores signals that need no reaction, and leaves all others alone. For a process that ends
 * together with another one. */
void signals_begin_supervisor(void);

/* Delays signals that end the process until signals_release. */
void signals_hold(void);
void signals_release(void);

/* Calls pthread_create; the new thread takes no signals. Returns 0 or -errno. */
must_check int signals_thread(pthread_t *ret, void *(*run)(void *context), void *context);

/* Lets signals_wake wake the calling thread from now on, by making a system call in which it waits
 * return EINTR. A call that begins after signals_wake still waits, so the waker repeats
 * signals_wake until the thread has reacted. */
void signals_wakeable(void);
void signals_wake(pid_t thread);
