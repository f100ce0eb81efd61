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

/* Ignores signals that mean nothing to us, and makes SIGQUIT and SIGXCPU end the process like
 * SIGTERM. */
void signals_begin(void);

/* Ignores the signals that mean nothing to us, and changes no others. For a process that ends
 * with another one. */
void signals_begin_supervisor(void);

/* signals_hold delays the signals that end the process until signals_release. */
void signals_hold(void);
void signals_release(void);

/* Calls pthread_create; the new thread takes no signals. Returns 0 or -errno. */
must_check int signals_thread(pthread_t *ret, void *(*run)(void *context), void *context);

/* signals_wakeable lets the calling thread be woken from now on: signals_wake makes a system
 * call that waits in it return EINTR. A call that begins after signals_wake still waits, so
 * the waker repeats signals_wake until it sees what it wants. */
void signals_wakeable(void);
void signals_wake(pid_t thread);
