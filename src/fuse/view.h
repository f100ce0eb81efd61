// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/files.h"

#include <sys/types.h>

/*
 * The mount: the FUSE session (low-level API), inode numbering, layouts, formats and the
 * text files.
 *
 *   Flow: main fills a view_context; view_mount; view_run until unmounted or signalled;
 *         view_stop; sched_stop; view_unmount. Meanwhile control may view_mount_job.
 *   Threads: view_run's FUSE threads and those of each job's mount; none of them ever
 *         waits: an open whose sample is not prepared yet is a parked request that a
 *         worker answers.
 *   Errors: 0 or -errno, logged.
 */

struct view;

/* options: the comma-separated -o options as mount(8) and fusermount3 know them, or NULL.
 */
must_check int view_mount(const struct view_context *context, const char *options,
	bool debug, struct view **ret);

/* Serves until the file system is unmounted or SIGINT, SIGTERM or SIGHUP arrives. */
must_check int view_run(struct view *view);

/* No request is taken any more, at no mount: sched may stop. */
void view_stop(struct view *view);

/*
 * Unmounts when still mounted, and ends the mounts of jobs. view_stop and sched_stop were
 * called before, so nothing is parked. -EBUSY: it is still mounted, with nobody behind
 * it.
 */
must_check int view_unmount(struct view **view);

/* --- from one thread, which ends before view_stop --- */

/*
 * A further mount, whose root is the job's directory. device: /dev/fuse, opened and
 * mounted by the process `mounter` anywhere; taken over, also when it fails. It is served
 * until it is unmounted or view_unmount; when the job is removed, what is open can still
 * be read, and all else is -ENODEV. -ENOENT: no such job; -ENOTTY: not a FUSE device;
 * -ENODEV: not mounted.
 */
must_check int view_mount_job(
	struct view *view, const char *job, pid_t mounter, int device);

/*
 * A job was added or removed: the kernel forgets what it cached of it and, unless path
 * ([view] path) is NULL, of what leads to the job below data/.
 */
void view_jobs_changed(struct view *view, const char *name, const char *path);
