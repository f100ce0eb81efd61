// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "files/inode.h"
#include "files/order_text.h"
#include "files/sizes.h"
#include "files/tree.h"
#include "fuse/fuse.h"

#include <fuse_lowlevel.h>
#include <stdatomic.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

/*
 * The parts of the view and what they share.
 *
 *   view.c        the session: mount, loop, unmount, news of jobs
 *   job_mount.c   further sessions, whose root is a job's directory
 *   mount_options.c  -o options, checks of the mount point
 *   ops.c         FUSE's requests, one short function each
 *   kernel_features.c  what the kernel offers and libfuse does not know
 *   passthrough.c  files that the kernel reads without us
 *   tree.c        names -> inodes, inodes -> attributes
 *   layout_*.c    the same within an epoch: layout.h
 *   data.c        the same within data/
 *   tree_list.c   directory listings
 *   text_file.c   open, read, release of the text files
 *   sample.c      open, read, release of samples
 *   label.c       the same of labels
 *   opening.c     an open on its way: parked, interrupted, answered
 *   composite_*.c files that hold several positions: composite_file.h
 *
 *   Threads: FUSE's, sched's workers (opening.c) and control's (session_jobs_changed).
 */

#define FOREVER 1e9 /* seconds; for timeouts */
#define SESSION_MAX_THREADS 8

/* One mount: of everything, or of one job. Each has its own FUSE session. */
struct session {
	struct files_context context;
	struct inode root; /* INODE_ROOT or INODE_JOB */
	atomic_bool gone;  /* the job was removed: nothing more can be opened */
	struct fuse_session *fuse;
	bool mounted, handles_signals;
	bool debug;
	bool omits_opendir;  /* the kernel takes ENOSYS for "nothing to do" */
	bool other_pids;     /* those of its readers are of another name space */
	bool maps_direct;    /* what bypasses the page cache can be mapped */
	bool passes_through; /* the kernel can read files without us: passthrough.h */
	atomic_int offered;  /* by the session's first message, for kernel_features.c */
	uid_t uid;
	gid_t gid;
	struct timespec started;
	struct order_texts *orders;
	struct sizes *sizes;

	/* of the mount of everything: control's thread, and main's when that has ended */
	LIST_HEAD(, job_mount) job_mounts;

	struct lock lock;
	unsigned holds; /* (lock) who uses the session and is none of its threads */
	bool ending;	/* (lock) nobody may hold it any more */
	bool stopping;	/* (lock) somebody else waits and ends it */
	pthread_cond_t unheld;
	struct timespec jobs_changed;	       /* (lock) */
	LIST_HEAD(, sample_file) open_samples; /* (lock) */
	LIST_HEAD(, label_file) open_labels;   /* (lock) */
	struct label_text *label_texts; /* (lock) what the kernel reads labels from */
	LIST_HEAD(, composite_file) open_composites; /* (lock) */
	LIST_HEAD(, snapshot) open_texts;	     /* (lock) */
};

extern const struct fuse_lowlevel_ops session_ops;

/* -errno as an answer to any request */
void reply_error(fuse_req_t req, int err);
/* Whether reads of open files go through the page cache. */
bool session_is_cached(const struct session *session, const struct sched_job *job);
/* Whether the page cache may hold bytes of them: those who have a file open then share
 * its content. */
bool session_is_mappable(const struct session *session, const struct sched_job *job);
void session_set_io(const struct session *session, const struct sched_job *job,
	struct inode inode, struct fuse_file_info *fi);

/* The number that the kernel knows an inode by, and back: FUSE_ROOT_ID is the mount's
 * root, all others are inode_pack's. -ENOENT */
uint64_t session_number(const struct session *session, struct inode inode);
must_check int session_inode(
	const struct session *session, uint64_t number, struct inode *ret);

/* --- view.c ----------------------------------------------------------------------- */

must_check int session_new(
	const struct files_context *context, struct inode root, struct session **ret);
void session_free(struct session **session);

/* where: a directory, or "/dev/fd/N", which belongs to the session then. */
must_check int session_start(
	struct session *session, struct fuse_args *args, const char *where);
/* All its threads have returned, nobody holds it. */
void session_end(struct session *session);
unsigned session_threads(void);

/*
 * Who answers a request later, or sends the kernel news, holds the session meanwhile.
 * session_hold: for a request that is not answered yet. session_try_hold: false when it is
 * too late.
 */
void session_hold(struct session *session);
must_check bool session_try_hold(struct session *session);
void session_unhold(struct session *session);
/* false: there was session_stop_waiting, before or meanwhile. */
must_check bool session_wait_unheld(struct session *session);
void session_stop_waiting(struct session *session);

/* What was remembered about jobs may be wrong. */
void session_touch_jobs(struct session *session);

/* --- job_mount.c ------------------------------------------------------------------ */

void job_mounts_changed(struct session *everything);
void job_mounts_stop(struct session *everything);
void job_mounts_end(struct session *everything); /* after job_mounts_stop */

/* --- attributes.c --- */

/*
 * render: text files are rendered to tell their size; without it st_size may be any, and
 * the timeout is 0. -ENOENT when it is not there any more.
 */
must_check int attributes_get(struct session *session, struct inode inode, bool render,
	struct stat *ret, double *ret_timeout);

/* The same for a file of the layout of a job that was found already. */
void attributes_in_layout(struct session *session, struct sched_job *job,
	struct inode inode, struct stat *ret, double *ret_timeout);

/* --- tree_list.c ------------------------------------------------------------------ */

void listing_reply(fuse_req_t req, struct session *session, struct inode directory,
	size_t size, uint64_t offset, bool plus);

/* --- text_file.c ------------------------------------------------------------------ */

must_check int text_file_size(struct session *session, struct inode inode, uint64_t *ret);
uint64_t text_file_known_size(struct session *session, struct inode inode);
void text_file_open(fuse_req_t req, struct session *session, struct inode inode,
	const struct fuse_file_info *fi);
void text_file_read(fuse_req_t req, struct session *session, struct inode inode,
	size_t size, uint64_t offset, const struct fuse_file_info *fi);
void text_file_release(struct session *session, const struct fuse_file_info *fi);
void text_files_close_all(struct session *session); /* when the session has ended */
