// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/kept.h"
#include "base/lock.h"
#include "files/inode.h"
#include "files/order_text.h"
#include "files/sizes.h"
#include "files/tree.h"
#include "fuse/fuse.h"
#include "fuse/open_files.h"
#include "fuse/reply.h"

#include <fuse_lowlevel.h>
#include <stdatomic.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

struct sched_job;

/*
 * A file of this folder calls only files below it in this list. The exception is open_file_ops.c,
 * which calls the kinds of open file through struct open_file_ops.
 *
 *   whole_mount.c      the session of the whole tree: mount, loop, unmount, job changes
 *   job_mount.c        further sessions, whose root is a job's directory
 *   listings_forget.c  makes the kernel forget listings after a scan
 *   session.c          begin and end of a session
 *   ops.c              FUSE's requests, one short function each
 *   listing.c, attributes.c
 *   file_requests.c, opening.c
 *   sample_file.c, label_file.c, text_file.c, other_file.c, composite/
 *                      the kinds of open file; a composite holds several positions
 *   open_file_ops.c, owner.c, await_close.c, kernel_features.c, by_worker.c
 *   reader.c           finds a request's sender by relatives.c, proc.c, process_kind.c
 *   handover.c, passthrough.c
 *   session_use.c      functions that requests call: inodes, page cache, references
 *   open_files.c, reply.c
 *
 * Independent of the others: mount_options.c, job_device.c, read_ahead.c, engine_failed.c.
 *
 * Words of this folder:
 *
 *   session        a mount, of the whole tree or of one job
 *   handle         the kernel's number for an open file, which later engines also use
 *   backing file   a file in memory from which the kernel reads an inode by itself
 *   to hold        to keep a session from ending until a request is answered
 *   to undo        to close a file that nobody has read, so that nothing is consumed
 *   outlived       of an open file: an earlier engine opened it, and the kernel itself reads it
 *
 *   Threads: FUSE's; sched's workers, which answer requests that had to wait; and control's, for
 *            job_mount.c and session_jobs_changed.
 */

#define FOREVER 1e9 /* timeout in seconds of names and attributes that never expire */
#define UNTOLD_S                                                                         \
	1.0 /* longest timeout in seconds if the session sends no notifications */
#define SESSION_MAX_THREADS 8

struct session {
	struct files_context context;
	struct inode root; /* INODE_ROOT or INODE_JOB */
	atomic_bool gone;  /* the job was removed, so nothing more can be opened */
	struct fuse_session *fuse;
	bool mounted, handles_signals;
	bool debug;
	bool omits_opendir; /* the kernel accepts ENOSYS as a successful opendir */
	bool detached;	    /* session_detach has unmounted the tree */
	bool private;	    /* the kernel admits only the daemon's user */
	atomic_int offered; /* features that the kernel offers (kernel_features.c) */
	bool again;	    /* an earlier engine served the mount */
	struct kept_mount mount;
	/* the mount's entry in kept(), with a copy of `mount` for the next engine; NULL: the mount
	 * ends with this engine */
	struct kept_descriptor *place;
	uid_t uid;
	gid_t gid;
	struct order_texts *orders;
	struct sizes *sizes;

	/* The mounts of jobs, in the whole tree's session. Only control's thread uses the list.
	 * When this thread has ended, only the main thread uses it. */
	LIST_HEAD(, job_mount) job_mounts;

	struct lock lock;
	unsigned holds; /* (lock) holds that session_unhold has not ended yet */
	bool ending;	/* (lock) session_try_hold fails from now on */
	bool stopping;	/* (lock) session_stop_waiting was called */
	pthread_cond_t unheld;
	struct timespec jobs_changed;		 /* (lock) */
	struct open_files open_files;		 /* (lock) */
	LIST_HEAD(, close_waiter) close_waiters; /* (lock) */
	struct label_text *label_texts; /* (lock) the backing files that labels share */
	/* (lock) earlier engines' backing files that are still in use; private to handover.c */
	struct old_backing *old_backings;
};

extern const struct fuse_lowlevel_ops session_ops;

/* --- session_use.c ----------------------------------------------------------------- */

/* Tells whether the kernel may map, cache or pass through the files of a job. If so, all readers
 * that have an inode open must get the same bytes. */
bool session_is_mappable(const struct session *session, const struct sched_job *job);
/* Sets direct_io and keep_cache for the answer to an open. */
void session_set_io(const struct session *session, const struct sched_job *job,
	struct inode inode, struct fuse_file_info *fi);

/* Returns FUSE_ROOT_ID for the mount's root, otherwise inode_pack(inode). */
uint64_t session_number(const struct session *session, struct inode inode);
/* Makes the kernel forget a name in a directory, if the kernel knows it. */
void session_forget_name(const struct session *session, struct inode directory,
	const char *name, size_t bytes);
/* Finds the inode of an inode number from the kernel. -ENOENT: the inode is not in this mount. */
must_check int session_inode(
	const struct session *session, uint64_t number, struct inode *ret);

/* A hold keeps the session from ending. A thread with an unanswered request may call session_hold,
 * because the session ends only after all answers. Other threads have to call session_try_hold,
 * which returns false if the session is ending. */
void session_hold(struct session *session);
must_check bool session_try_hold(struct session *session);
void session_unhold(struct session *session);
/* Makes session_try_hold fail from now on, and waits until no thread holds the session. Returns
 * false if session_stop_waiting was called. */
must_check bool session_wait_unheld(struct session *session);
/* Makes a running or later session_wait_unheld return false. */
void session_stop_waiting(struct session *session);

/* --- session.c --------------------------------------------------------------------- */

must_check int session_new(
	const struct files_context *context, struct inode root, struct session **ret);
void session_free(struct session **session);

/* where: the directory to mount on; or "/dev/fd/N", N being the descriptor of a mounted device,
 * which the session takes over. */
must_check int session_start(
	struct session *session, struct fuse_args *args, const char *where);
/* Takes over a mount from the previous engine. Called before session_start. */
void session_take_over(struct session *session, struct kept_descriptor *place);
/* Begins the session of a mount that the previous engine served, with the features that the kernel
 * granted to that engine. Makes the kernel send unanswered requests again. Called after
 * session_start, before any thread serves the session. */
void session_go_on(struct session *session);
/* Unmounts and ends the session. No thread may serve or hold it any more. */
void session_end(struct session *session);
unsigned session_threads(void);

/* Changes the times of directories that list jobs. Forgets the sizes that sizes.h keeps, and the
 * starts of chunks that order_text.h keeps. */
void session_touch_jobs(struct session *session);

/* --- job_mount.c ------------------------------------------------------------------ */

/* Serves the job mounts that the previous engine served. everything: the session of the whole tree,
 * as in the functions below. */
void job_mounts_go_on(struct session *everything);
/* Called when jobs were added or removed. A mount whose job was removed opens no more files. */
void job_mounts_changed(struct session *everything);
/* Makes the kernel forget the listings of the dataset's jobs in all job mounts. */
void job_mounts_moved(struct session *everything, const char *dataset);
/* Makes the kernel forget the listings of the dataset's jobs in this session. */
void listings_forget(struct session *session, const char *dataset);
/* Ends the sessions of the job mounts, after session_stop. */
void job_mounts_end(struct session *everything);

/* --- job_device.c ----------------------------------------------------------------- */

/* Makes reads of *device, which a client has mounted, return at once if there is no request. If the
 * kernel permits this, replaces *device by a device of the same mount that no other process has.
 * Returns 0, or -errno with *device unchanged. */
must_check int job_device_own(int *device);

/* --- attributes.c ------------------------------------------------------------------ */

/* Finds the attributes of an inode. render: text files are rendered to find their size; otherwise
 * st_size may be wrong. *ret_timeout: seconds for which the kernel may keep the attributes.
 * -ENOENT: the inode is gone. */
must_check int attributes_get(struct session *session, struct inode inode, bool render,
	struct stat *ret, double *ret_timeout);

/* Tells whether a worker has to find the attributes of the inode, or of the files in this
 * directory: a text has to be rendered or measured, or an epoch's saved order has to be read. */
bool attributes_take_long(struct session *session, struct inode inode, bool render);

void attributes_in_layout(struct session *session, struct sched_job *job,
	struct inode inode, struct stat *ret, double *ret_timeout);

/* --- listing.c --------------------------------------------------------------------- */

void listing_reply(const struct request *request);
