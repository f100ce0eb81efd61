// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "config/config.h"
#include "dataset/dataset.h"
#include "sched/sched.h"

/*
 * The mount: the FUSE session (low-level API), inode numbering, layouts, formats and the
 * text files.
 *
 *   Flow: main fills a view_context; view_mount; view_run until unmounted or signalled;
 *         view_unmount.
 *   Threads: view_run's FUSE threads; none of them ever waits: an open whose sample is
 * not prepared yet is a parked request that a worker answers. Errors: 0 or -errno,
 * logged.
 */

struct view;

/* What view and control show. Borrowed; outlives both. */
struct view_context {
	const struct daemon_config *config;
	struct dataset **datasets;
	size_t n_datasets;
	struct sched *sched;
	const char *mountpoint; /* absolute */
};

/* options: the comma-separated -o options as mount(8) and fusermount3 know them, or NULL.
 */
must_check int view_mount(const struct view_context *context, const char *options,
	bool debug, struct view **ret);

/* Serves until the file system is unmounted or SIGINT, SIGTERM or SIGHUP arrives. */
must_check int view_run(struct view *view);

/* Unmounts when still mounted. sched_stop was called before, so nothing is parked. */
void view_unmount(struct view **view);

/*
 * A job was added or removed: the kernel forgets what it cached of the directory jobs/
 * and, unless path ([view] path) is NULL, of what leads to the job below data/.
 */
void view_jobs_changed(struct view *view, const char *name, const char *path);
