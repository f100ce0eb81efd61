// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"
#include "load/load.h"

/*
 * The kernel has one content for an inode whose files are mapped, cached or passed
 * through. In current/ two readers may want two epochs of a position at one moment. The
 * later reader waits until the file is closed. This takes a moment if a program only looks at
 * the file, or if the kernel has not told of the close yet. If the file stays open for
 * longer, both readers share its epoch.
 *
 *   await_close_locked -> the waiter's work runs, since the file is closed, or has been open for
 *   too long -> the opener tries again
 *
 *   Owns: nothing; a waiter is the opener's.   Threads: any, none waits.
 *   Locks: takes the session's.
 */
struct close_waiter {
	struct load_work work; /* the opener sets run; the rest is zero */
	/* private to await_close.c */
	LIST_ENTRY(close_waiter) link; /* (session's lock) */
	uint64_t number;
	uint64_t until_ns; /* 0: it has not waited yet */
	bool listed;	   /* (session's lock) */
};

/* Makes the waiter's work run when `file` is closed, or has been open for too long. false: there
 * is nothing to wait for: `file` is NULL, or was open for too long already. */
must_check bool await_close_locked(struct session *session, struct close_waiter *waiter,
	const struct open_file *file, uint64_t number);
/* Ends the waiting. The opener calls this when the work runs, or was taken back. */
void await_close_end(struct session *session, struct close_waiter *waiter);
/* Tells the waiters of the inode that a file of it was closed: their work runs. */
void await_close_tell(struct session *session, uint64_t number);
