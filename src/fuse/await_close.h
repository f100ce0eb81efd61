// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"
#include "load/load.h"

/*
 * Waits until other readers close an inode. The kernel keeps one content for an inode whose files
 * are mapped, cached or passed through. But in current/ two readers may want different epochs of
 * one position at the same time. Then the later reader waits until the file is closed. The wait is
 * short if a program only looks at the file, or if the kernel has not reported the close yet. If
 * the file stays open longer, both readers share its epoch.
 *
 *   await_close_locked -> the waiter's work runs, when the file is closed or was open for too long
 *   -> the opener tries again
 *
 *   Owns: nothing; the opener owns its waiter.   Threads: any; none is blocked.
 *   Locks: takes the session's.
 */
struct close_waiter {
	struct load_work work; /* the opener sets run; everything else is zero */
	/* The members from here on are private to await_close.c. */
	LIST_ENTRY(close_waiter) link; /* (session's lock) */
	uint64_t number;
	uint64_t until_ns; /* end of the wait; 0: it has not begun */
	bool listed;	   /* (session's lock) */
};

/* Makes the waiter's work run once `file` is closed, or was open for too long. false: there is no
 * reason to wait, because `file` is NULL or was already open for too long. */
must_check bool await_close_locked(struct session *session, struct close_waiter *waiter,
	const struct open_file *file, uint64_t number);
/* Ends the wait. The opener calls this when the work runs, or when it took the work back. */
void await_close_end(struct session *session, struct close_waiter *waiter);
/* Runs the work of all waiters of the inode, because a file of the inode was closed. */
void await_close_tell(struct session *session, uint64_t number);
