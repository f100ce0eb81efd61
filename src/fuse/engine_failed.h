// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/*
 * An engine that only answers EIO. The supervisor starts it after too many other engines have
 * died. It leaves the mounts where they are, and tells the cause on the control sockets. It needs
 * no ini and no state.
 *
 *   Flow: main calls one of the two functions, and nothing else.
 *   Threads: one.   Errors: an exit status.
 */

/* Serves until the file system is unmounted, a signal comes, or `joaderctl upgrade` asks for
 * another engine. */
int engine_failed_run(const char *mountpoint);

/* Unmounts the tree and removes the sockets. Called if the last engine died while it ended. */
int engine_failed_unmount(const char *mountpoint);
