// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/*
 * The engine that follows engines that could not live: it leaves the mounts where they are and
 * answers EIO, and says why on the control sockets. It needs no ini and no state.
 *
 *   Flow: main calls one of the two instead of all else.
 *   Threads: one.   Errors: an exit status.
 */

/* Serves until the file system is unmounted, a signal comes, or `joaderctl upgrade` asks for
 * another engine. */
int engine_failed_run(const char *mountpoint);

/* Unmounts the tree and removes the sockets after the last engine died while it was ending. */
int engine_failed_unmount(const char *mountpoint);
