// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/files.h"

#include <sys/types.h>

/*
 * The mount: the FUSE session (low-level API), inode numbering, layouts, formats and the
 * text files.
 *
 *   Flow: main fills a files_context; session_mount; session_run until unmounted or signalled;
 *         session_stop; sched_stop; session_unmount. Meanwhile control may session_mount_job.
 *   Threads: session_run's FUSE threads and those of each job's mount; none of them ever
 *         waits: an open whose sample is not prepared yet is a parked request that a
 *         worker answers.
 *   Errors: 0 or -errno, logged.
 */

struct session;

/* options: the comma-separated -o options as mount(8) and fusermount3 know them,
 * or NULL. */
must_check int session_mount(const struct files_context *context, const char *options,
	bool debug, struct session **ret);

/* Serves until the file system is unmounted or SIGINT, SIGTERM or SIGHUP arrives. */
must_check int session_run(struct session *session);

/* No request is taken any more, at no mount: sched may stop. */
void session_stop(struct session *session);

/*
 * Unmounts when still mounted, and ends the mounts of jobs. session_stop and sched_stop were
 * called before, so nothing is parked. -EBUSY: it is still mounted, with nobody behind
 * it.
 */
must_check int session_unmount(struct session **session);

/* --- from one thread, which ends before session_stop --- */

/*
 * A further mount, whose root is the job's directory. device: /dev/fuse, opened and
 * mounted by the process `mounter` anywhere; taken over, also when it fails. It is served
 * until it is unmounted or session_unmount; when the job is removed, what is open can still
 * be read, and all else is -ENODEV. -ENOENT: no such job; -ENOTTY: not a FUSE device;
 * -ENODEV: not mounted.
 */
must_check int session_mount_job(
	struct session *session, const char *job, pid_t mounter, int device);

/*
 * A job was added or removed: the kernel forgets what it cached of it and, unless path
 * ([view] path) is NULL, of what leads to the job below data/.
 */
void session_jobs_changed(struct session *session, const char *name, const char *path);
