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
 *   session.c          a session's life: mount, loop, unmount; news of jobs
 *   listings_forget.c  when a dataset was scanned again
 *   job_mount.c        further sessions, whose root is a job's directory
 *   job_device.c       the descriptor of such a session
 *   mount_options.c    -o options, checks of the mount point
 *   kernel_features.c  features of the kernel that libfuse does not know
 *   ops.c              FUSE's requests, one short function each
 *   attributes.c       inodes -> attributes
 *   owner.c            whose the files of a job are: owner.h
 *   listing.c          directory listings
 *   text_file.c        open, read, release of the text files
 *   sample_file.c      open samples: read, release
 *   label_file.c       the same for labels
 *   opening.c          an open of either on its way: parked, interrupted, answered
 *   composite_*.c      open files that hold several positions: composite_file.h
 *   open_files.c       open files by their inode and their handle: handle.h
 *   await_close.c      opens of two epochs of one inode at a moment
 *   outlived.c         what was open when the engine before this one ended
 *   later.c            requests that a worker answers, since they take long
 *   passthrough.c      files that the kernel reads by itself
 *   read_ahead.c       how far the kernel reads ahead
 *   reader.c           the process behind a request
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
	bool foreign;	    /* who has mounted it unmounts it */
	bool detached;	    /* by session_detach */
	/* The kernel gets no news, and asks again after a second. It takes locks to hear news,
	 * which the client that has the device, too, can hold for ever: by a request that it
	 * takes and does not answer. */
	bool untold;
	bool other_pids; /* the pids of its readers belong to another name space */
	bool everybody; /* who has mounted it decides who reads: owner.h does not check */
	bool private;	/* the kernel lets only the daemon's user in */
	bool maps_direct;    /* files that bypass the page cache can be mapped */
	bool passes_through; /* the kernel can read files by itself: passthrough.h */
	atomic_int offered;  /* by the kernel's first message, for kernel_features.c */
	bool again;	     /* an engine before this one has made the mount */
	struct kept_descriptor *place; /* NULL: the mount ends with this engine */
	uid_t uid;
	gid_t gid;
	struct timespec started;
	struct order_texts *orders;
	struct sizes *sizes;

	/* Of the whole tree's session: for control's thread, and when that has ended, for
	 * main's. */
	LIST_HEAD(, job_mount) job_mounts;

	struct lock lock;
	unsigned holds; /* (lock) users of the session that are none of its threads */
	bool ending;	/* (lock) it can't be held any more */
	bool stopping;	/* (lock) another thread will end it */
	pthread_cond_t unheld;
	struct timespec jobs_changed;		 /* (lock) */
	struct open_files open_samples;		 /* (lock) */
	struct open_files open_labels;		 /* (lock) */
	struct label_text *label_texts;		 /* (lock) files to read labels from */
	struct open_files open_composites;	 /* (lock) */
	LIST_HEAD(, close_waiter) close_waiters; /* (lock) */
	struct open_files open_texts;		 /* (lock) */
	struct old_backing *old_backings;	 /* (lock) outlived.c's */
};

/* A file is closed, whichever engine has opened it. */
void session_release(struct session *session, struct inode inode, uint64_t handle);
extern const struct fuse_lowlevel_ops session_ops;

/* Answers any request with -errno. */
void reply_error(fuse_req_t req, int err);
/* Whether reads of open files go through the page cache. */
bool session_is_cached(const struct session *session, const struct sched_job *job);
/* Whether the page cache may hold bytes of open files. All readers that have a file open
 * then share its content. */
bool session_is_mappable(const struct session *session, const struct sched_job *job);
void session_set_io(const struct session *session, const struct sched_job *job,
	struct inode inode, struct fuse_file_info *fi);

/* The kernel's number for an inode, and back: FUSE_ROOT_ID for the mount's root, for all
 * others inode_pack's. -ENOENT. */
uint64_t session_number(const struct session *session, struct inode inode);
must_check int session_inode(
	const struct session *session, uint64_t number, struct inode *ret);

/* --- session.c --------------------------------------------------------------------- */

must_check int session_new(
	const struct files_context *context, struct inode root, struct session **ret);
void session_free(struct session **session);

/* where: a directory, or "/dev/fd/N", whose descriptor the session takes over. */
must_check int session_start(
	struct session *session, struct fuse_args *args, const char *where);
/* Before session_start, which is given the descriptor: the mount is there already. */
void session_take_over(struct session *session, struct kept_descriptor *place);
/* After session_start, before any thread serves. */
void session_go_on(struct session *session);
/* When all its threads have returned and nobody holds it. */
void session_end(struct session *session);
unsigned session_threads(void);

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
void session_stop_waiting(struct session *session);

/* Jobs have changed: forgets everything that was remembered about them. */
void session_touch_jobs(struct session *session);

/* --- job_mount.c ------------------------------------------------------------------ */

/* Serves those that an engine before this one has served. */
void job_mounts_go_on(struct session *everything);
void job_mounts_changed(struct session *everything);
void job_mounts_moved(struct session *everything, const char *dataset);
/* Those of its jobs. */
void listings_forget(struct session *session, const char *dataset);
void job_mounts_stop(struct session *everything);
void job_mounts_end(struct session *everything); /* after job_mounts_stop */

/* --- job_device.c ----------------------------------------------------------------- */

/* Takes the place of the client's device, which is mounted: one that no read waits at, and
 * that, where the kernel can, no other process has. -errno; then *device is as it was. */
must_check int job_device_own(int *device);

/* --- attributes.c ------------------------------------------------------------------ */

/*
 * render: renders text files to find their size. Without it their st_size may be wrong;
 * their timeout is 0. -ENOENT: the inode does not exist any more.
 */
must_check int attributes_get(struct session *session, struct inode inode, bool render,
	struct stat *ret, double *ret_timeout);

/* Whether a worker has to find them, or those of the files in a directory: a text is
 * rendered, lines are measured, or saved orders read. */
bool attributes_take_long(struct session *session, struct inode inode, bool render);

/* The same for a file of a layout, whose job was found already. */
void attributes_in_layout(struct session *session, struct sched_job *job,
	struct inode inode, struct stat *ret, double *ret_timeout);

/* --- listing.c --------------------------------------------------------------------- */

void listing_reply(fuse_req_t req, struct session *session, struct inode directory,
	size_t size, uint64_t offset, bool plus);

/* --- text_file.c ------------------------------------------------------------------ */

must_check int text_file_size(struct session *session, struct inode inode, uint64_t *ret);
uint64_t text_file_known_size(struct session *session, struct inode inode);
void text_file_open(fuse_req_t req, struct session *session, struct inode inode,
	const struct fuse_file_info *fi);
/* The JSON, or what comes along, of a position that is bound to the sample. */
void text_file_open_of_sample(fuse_req_t req, struct session *session,
	struct sched_job *job, struct inode inode, uint32_t epoch, sample_id sample,
	const struct fuse_file_info *fi);
/* The same for a file that an engine before this one has opened. -errno */
must_check int text_file_again_of_sample(struct session *session, struct sched_job *job,
	struct inode inode, sample_id sample, uint64_t handle);
/* The size of such a file while it is open. */
bool text_file_open_size(struct session *session, struct inode inode, uint64_t *ret);
/* false: another engine has opened the file, whose position is to be found first. */
must_check bool text_file_read(fuse_req_t req, struct session *session,
	struct inode inode, uint64_t handle, size_t size, uint64_t offset);
void text_file_release(struct session *session, uint64_t handle);
void text_files_close_all(struct session *session); /* when the session has ended */
