// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/files.h"

#include <sys/types.h>

/*
 * The mount: sessions of libfuse's low-level API. One session serves the mount of the whole tree;
 * each mount of a single job's directory has a session of its own.
 *
 *   Flow: main fills in a files_context, and calls session_mount and session_run. When the mount is
 *         unmounted or a signal arrives, main calls session_detach, session_stop, sched_stop and
 *         session_unmount. While the session runs, control may call session_mount_job and
 *         session_jobs_changed.
 *   Threads: those of session_run and of each job's mount. None of them ever waits: if a sample or
 *            an epoch is not there yet, a worker answers the request later.
 *   Errors: 0 or -errno, logged.
 */

struct session;

/* Mounts the whole tree. options: the text after -o, as for mount(8), or NULL. */
must_check int session_mount(const struct files_context *context, const char *options,
	bool debug, struct session **ret);

/* Serves until the file system is unmounted or SIGINT, SIGTERM or SIGHUP arrives. */
must_check int session_run(struct session *session);

/* Unmounts the tree, but leaves open files open until session_unmount. Called first when the daemon
 * ends, so that the mount point is free before the other steps, which can take long. */
void session_detach(struct session *session);

/* Stops the mounts of jobs. The loop of the tree's mount (session_run) has already ended, so no
 * mount accepts requests afterwards, and the scheduler may stop. */
void session_stop(struct session *session);

/* Ends the mounts of jobs, and unmounts the tree if it is still mounted. Requires session_stop and
 * sched_stop. Returns -EBUSY if the tree stays mounted; then nobody answers its requests. */
must_check int session_unmount(struct session **session);

/* Tells whether the kernel can send unanswered requests again, to the next engine. */
bool session_is_resent(const struct session *session);

/* --- called by one thread, which ends before session_stop -------------------------- */

#define SESSION_JOB_MOUNTS 64 /* most mounts of a job, because each mount needs threads */

/* Makes new threads serve a further mount, whose root is the job's directory. The threads serve the
 * mount until it is unmounted, or until session_unmount. When the job is removed, open files can
 * still be read; all other requests fail with ENODEV. device: a descriptor of /dev/fuse that the
 * process `mounter` has mounted somewhere.
 * The function takes over this descriptor, also on failure. granted: the device came through a
 * socket that serves only this job, so `mounter` may have kept a duplicate of the device. Such a
 * mount gets no notifications, because `mounter` could block them (kept_mount.untold). The daemon
 * checks no rights if `granted` is set, or if `mounter` is in another user name space: every
 * process that the kernel lets in may read. -ENOENT: there is no such job; -ENOTTY: the device is
 * not /dev/fuse; -ENODEV: the device is not mounted; -EUSERS: the job has SESSION_JOB_MOUNTS
 * mounts. */
must_check int session_mount_job(struct session *session, const char *job, pid_t mounter,
	bool granted, int device);

/* Makes the kernel forget the name of a job that was added or removed. path: the job's path below
 * data/ (`path` in [view]); the kernel forgets the names in this path, too. NULL: the job has no
 * path. */
void session_jobs_changed(struct session *session, const char *name, const char *path);
/* Makes the kernel forget the listings of the dataset's jobs, because later epochs have other
 * samples. */
void session_dataset_moved(struct session *session, const char *name);
