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
 *   listings_forget.c  makes the kernel forget listings after a scan
 *   job_mount.c        further sessions, whose root is a job's directory
 *   job_device.c       the descriptor of such a session
 *   mount_options.c    -o options, checks of the mount point
 *   kernel_features.c  features of the kernel that libfuse does not know
 *   ops.c              FUSE's requests, one short function each
 *   attributes.c       inodes -> attributes
 *   owner.c            owners and modes of a job's files: owner.h
 *   listing.c          directory listings
 *   text_file.c        open, read, release of the text files
 *   sample_file.c      open samples: read, release
 *   label_file.c       open labels: read, release
 *   opening.c          opens of samples and labels: parked, interrupted, answered
 *   composite/         open files that hold several positions: composite_file.h
 *   open_files.c       open files by their inode and their handle: handle.h
 *   await_close.c      opens that wait until another epoch of the inode is closed
 *   handover.c         files that were open when the previous engine ended
 *   by_worker.c        requests that a worker answers, since they take long
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
	bool foreign;	    /* the process that has mounted it unmounts it */
	bool detached;	    /* session_detach was called */
	/* The kernel gets no notifications, and asks again after UNTOLD_S. It takes locks for a
	 * notification, which a client that has the device, too, could hold for ever: by taking
	 * a request and not answering it. */
	bool untold;
	bool other_pids; /* the pids of its readers belong to another name space */
	/* the mounting process decides who reads: owner.h does not check */
	bool everybody;
	bool private;	     /* the kernel lets only the daemon's user in */
	bool maps_direct;    /* files that bypass the page cache can be mapped */
	bool passes_through; /* the kernel can read files by itself: passthrough.h */
	/* features in the kernel's first message (kernel_features.c) */
	atomic_int offered;
	bool again;		       /* a previous engine has made the mount */
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
	struct timespec jobs_changed;	/* (lock) */
	struct open_files open_samples; /* (lock) */
	struct open_files open_labels;	/* (lock) */
	/* (lock) files that labels are read from */
	struct label_text *label_texts;
	struct open_files open_composites;	 /* (lock) */
	LIST_HEAD(, close_waiter) close_waiters; /* (lock) */
	struct open_files open_texts;		 /* (lock) */
	struct old_backing *old_backings;	 /* (lock) private to handover.c */
};

/* Closes a file, whichever engine has opened it. */
void session_release(struct session *session, struct inode inode, uint64_t handle);
extern const struct fuse_lowlevel_ops session_ops;

/* Answers any request with -errno. */
void reply_error(fuse_req_t req, int err);
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
/* Finds the inode of a kernel's number. -ENOENT: this mount has none. */
must_check int session_inode(
	const struct session *session, uint64_t number, struct inode *ret);

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
 * serves. */
void session_go_on(struct session *session);
/* Unmounts and ends the session. All its threads have returned, and nobody holds it. */
void session_end(struct session *session);
/* Returns how many threads serve a session. */
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
/* Makes session_wait_unheld return false. */
void session_stop_waiting(struct session *session);

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

/* Makes the client's mounted device one whose reads don't wait and which, where the kernel can,
 * no other process has. -errno: *device is unchanged. */
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
void listing_reply(fuse_req_t req, struct session *session, struct inode directory,
	size_t size, uint64_t offset, bool plus);

/* --- text_file.c ------------------------------------------------------------------ */

/* Finds the size of a text file, which is rendered or measured. -errno */
must_check int text_file_size(struct session *session, struct inode inode, uint64_t *ret);
/* Returns the size as far as it is known without rendering or measuring; else 0. */
uint64_t text_file_known_size(struct session *session, struct inode inode);
/* Answers the open of a text file, perhaps later. */
void text_file_open(fuse_req_t req, struct session *session, struct inode inode,
	const struct fuse_file_info *fi);
/* Answers the open of a sample's JSON, or of a text beside it (beside.h). Its position is
 * bound. */
void text_file_open_of_sample(fuse_req_t req, struct session *session,
	struct sched_job *job, struct inode inode, uint32_t epoch, sample_id sample,
	const struct fuse_file_info *fi);
/* Opens such a file again under the handle that a previous engine gave it. -errno */
must_check int text_file_again_of_sample(struct session *session, struct sched_job *job,
	struct inode inode, sample_id sample, uint64_t handle);
/* Finds the size of such a file while it is open; false: it is not. */
bool text_file_open_size(struct session *session, struct inode inode, uint64_t *ret);
/* Answers a read. false: another engine has opened the file, and the caller has to find the
 * sample of its position first. */
must_check bool text_file_read(fuse_req_t req, struct session *session,
	struct inode inode, uint64_t handle, size_t size, uint64_t offset);
void text_file_release(struct session *session, uint64_t handle);
/* Closes all texts when the session has ended. */
void text_files_close_all(struct session *session);
