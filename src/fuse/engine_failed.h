// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/*
 * An engine that only answers EIO. The supervisor starts it after too many engines have died. This
 * engine keeps the mounts, reports the cause on the control sockets, and needs no ini and no state.
 *
 *   Flow: main calls one of the two functions, and nothing else.
 *   Threads: one.   Errors: an exit status.
 */

/* Serves until the tree is unmounted, SIGTERM arrives, or `joaderctl upgrade` is called. Calls
 * engine_failed_unmount at the end, except after an upgrade. */
int engine_failed_run(const char *mountpoint);

/* Unmounts the tree and removes the sockets. Called if the last engine died while it was ending. */
int engine_failed_unmount(const char *mountpoint);
