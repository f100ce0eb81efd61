// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <pthread.h>

/*
 * Signals of a process that must unmount before it ends.
 *
 *   Flow: main calls signals_begin first, and signals_hold before it mounts. session_run calls
 *         signals_release after libfuse has installed its handlers.
 *   Threads: only the thread that serves the mount receives signals. All other threads are started
 *         by signals_thread, or between signals_hold and signals_release.
 *   Errors: -errno of signals_thread; otherwise none.
 */

/* Ignores signals that need no reaction. SIGQUIT and SIGXCPU end the process like SIGTERM. */
void signals_begin(void);

/* Does the same for the supervisor, but does not touch SIGQUIT and SIGXCPU. */
void signals_begin_supervisor(void);

/* Delays signals that would end the process, until signals_release. */
void signals_hold(void);
void signals_release(void);

/* Starts a thread that receives no signals. Returns 0 or -errno. */
must_check int signals_thread(pthread_t *ret, void *(*run)(void *context), void *context);

/* Lets signals_wake wake the calling thread: its waiting system call returns EINTR. A later system
 * call still waits, so signals_wake is repeated until the thread has reacted. */
void signals_wakeable(void);
void signals_wake(pid_t thread);
