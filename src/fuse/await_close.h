// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"
#include "load/load.h"

/*
 * Opens that wait until other readers close the inode. The kernel keeps one content for an inode
 * whose files are mapped, cached or passed through, but in current/ two readers may want different
 * epochs of a position. Then the later open waits until the earlier reader closes its file. If the
 * earlier file is still open two seconds after its own open, the later open gets the epoch of the
 * earlier file, too.
 *
 *   Flow: await_close_locked -> the waiter's work runs -> the opener calls await_close_end, and
 *         tries again
 *   Owns: nothing; the opener owns its waiter.   Threads: any; none is blocked.
 *   Locks: takes the session's.
 */
struct close_waiter {
	struct load_work work; /* the caller sets work.run; everything else is zero */
	/* The fields from here on are private to await_close.c. */
	LIST_ENTRY(close_waiter) link; /* (session's lock) */
	uint64_t number;	       /* number of the inode */
	uint64_t until_ns; /* latest end of the wait; 0: the wait has not begun */
	bool listed;	   /* (session's lock) */
};

/* Makes the waiter's work run as soon as `file` is closed, or waiter->until_ns has come. The
 * waiter's first call sets until_ns to two seconds after the open of `file`; later calls, which may
 * be for other files, keep until_ns. Returns false, and begins no wait, if until_ns has passed. */
must_check bool await_close_locked(
	struct close_waiter *waiter, const struct open_file *file);
/* Ends the wait. Called by the opener when the work runs, or was taken back from the workers. */
void await_close_end(struct session *session, struct close_waiter *waiter);
/* Runs the work of all waiters of the inode. Called when a file of the inode was closed. */
void await_close_tell(struct session *session, uint64_t number);
