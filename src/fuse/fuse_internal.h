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
 * The parts of fuse, and what they share.
 *
 * A file calls only files below it. Only open_file_ops.c calls the kinds of open file, by struct
 * open_file_ops.
 *
 *   whole_mount.c      the session of the whole tree: mount, loop, unmount, news of jobs
 *   job_mount.c        further sessions, whose root is a job's directory
 *   listings_forget.c  makes the kernel forget listings after a scan
 *   session.c          a session's life
 *   ops.c              FUSE's requests, one short function each
 *   listing.c          directory listings
 *   attributes.c       inodes -> attributes
 *   file_requests.c    opens, reads and releases: finds the functions of a file's kind
 *   opening.c          opens of samples, labels and texts of samples: parked, interrupted, answered
 *   sample_file.c, label_file.c, text_file.c, other_file.c, composite/
 *                      the kinds of open file; a composite holds several positions
 *   open_file_ops.c    the life of an open file, the same for all kinds
 *   owner.c            owners and modes of a job's files
 *   await_close.c      opens that wait until another epoch of the inode is closed
 *   kernel_features.c  features of the kernel that libfuse does not know
 *   by_worker.c        requests that a worker answers, since they take long
 *   reader.c           the process that has sent a request: relatives.c, process.c, process_kind.c
 *   handover.c         the list of open files for the next engine
 *   passthrough.c      files that the kernel reads by itself
 *   session_use.c      a session as requests use it: inodes, page cache, holds
 *   open_files.c       open files by their inode and their handle
 *   reply.c            answers
 *
 * For themselves: mount_options.c (-o options, checks of the mount point), job_device.c (the
 * descriptor of a job's mount), read_ahead.c (how far the kernel reads ahead), engine_failed.c (an
 * engine that only answers EIO).
 *
 *   Threads: FUSE's; sched's workers, which answer parked requests; and control's, for
 *            job_mount.c and session_jobs_changed.
 */

#define FOREVER 1e9 /* seconds; for timeouts */
#define UNTOLD_S 1.0
#define SESSION_MAX_THREADS 8

/* A mount, of the whole tree or of one job. */
struct session {
	struct files_context context;
	struct inode root; /* INODE_ROOT or INODE_JOB */
	atomic_bool gone;  /* the job was removed: nothing more can be opened */
	struct fuse_session *fuse;
	bool mounted, handles_signals;
	bool debug;
	bool omits_opendir; /* the kernel takes ENOSYS of opendir for "nothing to do" */
	bool foreign;	    /* the process that has mounted it unmounts it */
	bool detached;	    /* session_detach was called */
	/* The session sends no notification; the kernel asks again after UNTOLD_S. The kernel takes
	 * locks for a notification. A client that has the device, too, could hold these locks for
	 * ever, by taking a request and not answering it. */
	bool untold;
	bool other_pids; /* the pids of its readers belong to another name space */
	bool everybody; /* owner.h checks nothing: the mounting process decides who reads */
	bool private;	/* the kernel lets only the daemon's user in */
	bool maps_direct;    /* files that bypass the page cache can be mapped */
	bool passes_through; /* the kernel can read files by itself: passthrough.h */
	/* features in the kernel's first message (kernel_features.c) */
	atomic_int offered;
	bool again;		       /* an earlier engine has made the mount */
	struct kept_descriptor *place; /* NULL: the mount ends with this engine */
	uid_t uid;
	gid_t gid;
	struct timespec started;
	struct order_texts *orders;
	struct sizes *sizes;

	/* Used in the whole tree's session, by control's thread and, when it has ended, by
	 * main's. */
	LIST_HEAD(, job_mount) job_mounts;

	struct lock lock;
	unsigned holds; /* (lock) users that are no threads of the session */
	bool ending;	/* (lock) it can't be held any more */
	bool stopping;	/* (lock) another thread will end it */
	pthread_cond_t unheld;
	struct timespec jobs_changed;		 /* (lock) */
	struct open_files open_files;		 /* (lock) */
	LIST_HEAD(, close_waiter) close_waiters; /* (lock) */
	struct label_text *label_texts;	  /* (lock) files that labels are read from */
	struct old_backing *old_backings; /* (lock) private to handover.c */
};

extern const struct fuse_lowlevel_ops session_ops;

/* --- session_use.c ----------------------------------------------------------------- */

/* Tells whether reads of open files go through the page cache. */
bool session_is_cached(const struct session *session, const struct sched_job *job);
/* Tells whether the page cache may hold bytes of open files. All readers that have a file open
 * then share its content. */
bool session_is_mappable(const struct session *session, const struct sched_job *job);
/* Sets the flags of an open's answer that choose between the page cache and direct reads. */
void session_set_io(const struct session *session, const struct sched_job *job,
	struct inode inode, struct fuse_file_info *fi);

/* Returns the kernel's number of an inode: FUSE_ROOT_ID for the mount's root, else
 * inode_pack's. */
uint64_t session_number(const struct session *session, struct inode inode);
/* Makes the kernel forget a name in a directory. A failure is ignored: the kernel does not know
 * the name. */
void session_forget_name(const struct session *session, struct inode directory,
	const char *name, size_t bytes);
/* Finds the inode of a kernel's number. -ENOENT: this mount has none. */
must_check int session_inode(
	const struct session *session, uint64_t number, struct inode *ret);

/*
 * A thread that answers a request later, or sends the kernel news, holds the session
 * meanwhile. session_hold is for a request that is not answered yet. session_try_hold
 * returns false when the session is about to end.
 */
void session_hold(struct session *session);
must_check bool session_try_hold(struct session *session);
void session_unhold(struct session *session);
/* Waits until nobody holds the session. false: session_stop_waiting was called, before or
 * meanwhile. */
must_check bool session_wait_unheld(struct session *session);
/* Makes session_wait_unheld return false. */
void session_stop_waiting(struct session *session);

/* --- session.c --------------------------------------------------------------------- */

must_check int session_new(
	const struct files_context *context, struct inode root, struct session **ret);
void session_free(struct session **session);

/* Begins libfuse's session and mounts. where: a directory, or "/dev/fd/N", whose descriptor the
 * session takes over. */
must_check int session_start(
	struct session *session, struct fuse_args *args, const char *where);
/* Takes a mount over from the previous engine. Called before session_start, which is given the
 * descriptor. */
void session_take_over(struct session *session, struct kept_descriptor *place);
/* Goes on where the previous engine ended. Called after session_start, before any thread
 * serves the session. */
void session_go_on(struct session *session);
/* Unmounts and ends the session. All its threads have returned, and nobody holds it. */
void session_end(struct session *session);
/* Returns how many threads serve a session. */
unsigned session_threads(void);

/* Forgets everything that was remembered about jobs, since they have changed. */
void session_touch_jobs(struct session *session);

/* --- job_mount.c ------------------------------------------------------------------ */

/* Serves the job mounts that the previous engine has served. */
void job_mounts_go_on(struct session *everything);
/* Tells all job mounts that jobs have changed. A mount whose job was removed opens nothing
 * more. */
void job_mounts_changed(struct session *everything);
/* Makes the kernel forget the listings of the dataset's jobs in all job mounts. */
void job_mounts_moved(struct session *everything, const char *dataset);
/* Makes the kernel forget the listings of the dataset's jobs in this session. */
void listings_forget(struct session *session, const char *dataset);
/* Waits until no thread serves a job mount any more. */
void job_mounts_stop(struct session *everything);
/* Ends the sessions of the job mounts, after job_mounts_stop. */
void job_mounts_end(struct session *everything);

/* --- job_device.c ----------------------------------------------------------------- */

/* Makes reads of the client's mounted device not wait. Where the kernel can, replaces the device
 * by one that no other process has. -errno: *device is unchanged. */
must_check int job_device_own(int *device);

/* --- attributes.c ------------------------------------------------------------------ */

/*
 * Finds the attributes of an inode. render: text files are rendered to find their size. Without
 * it their st_size may be wrong; their timeout is 0. -ENOENT: the inode does not exist any more.
 */
must_check int attributes_get(struct session *session, struct inode inode, bool render,
	struct stat *ret, double *ret_timeout);

/* Tells whether a worker has to find the attributes, or those of the files in a directory: a
 * text is rendered, lines are measured, or saved orders are read. */
bool attributes_take_long(struct session *session, struct inode inode, bool render);

/* Finds the attributes of a layout's file, whose job the caller has found. */
void attributes_in_layout(struct session *session, struct sched_job *job,
	struct inode inode, struct stat *ret, double *ret_timeout);

/* --- listing.c --------------------------------------------------------------------- */

/* Answers a readdir or, if `plus`, a readdirplus. */
void listing_reply(const struct request *request, bool plus);
