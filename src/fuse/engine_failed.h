// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/*
 * An engine process that only answers EIO. The supervisor starts this process after too
 * many engine processes have died. This process keeps the mounts, and reports the cause
 * on the control sockets. It needs no ini and no state.
 *
 *   Flow: main calls one of the two functions, and nothing else.
 *   Threads: one.   Errors: an exit status.
 */

/* Serves until the file system is unmounted, a signal arrives, or `joaderctl upgrade`
 * requests another engine process. */
int engine_failed_run(const char *mountpoint);

/* Unmounts the tree and removes the sockets. Called if the last engine process died
 * while it was ending. */
int engine_failed_unmount(const char *mountpoint);
