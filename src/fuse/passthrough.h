// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/content.h"
#include "fuse/fuse_internal.h"

struct sched_job;

/*
 * FUSE passthrough: the answer to the open of a sample (reply_open) names another file by its
 * number (backing.h), and the kernel reads from that file. After the open, only the release comes
 * to this process.
 *
 * While an inode is open, the kernel refuses each further open whose answer names a different file.
 * So the file behind a sample depends on the sample's tensor alone, and all readers that have a
 * position open have it open in the same epoch: see sample_file_new.
 *
 *   Threads: any.   Errors: a sample that can't be passed through is read by requests.
 */

/* max_stack_depth in FUSE_INIT: 1, because no backing file has a backing file itself */
#define PASSTHROUGH_STACK_DEPTH 1

/* Tells whether the kernel may read files of the session by itself: the session serves the whole
 * tree, the daemon has a store of backing files, and the process has CAP_SYS_ADMIN. */
bool passthrough_possible(const struct session *session);

/* Enables the registration of files. Called when the session has begun. */
void passthrough_begin(struct session *session);
/* Ends the registration of files. Called before the session ends. */
void passthrough_end(struct session *session);

/* Returns the kernel's number of the registered file that has the content's bytes, or 0. */
int passthrough_of(const struct session *session, const struct sched_job *job,
	const struct content *content);

/* Makes the kernel forget a registered file. Logs a failure. */
void passthrough_forget(const struct session *session, int backing);
/* Makes the kernel forget the file with this number, if there is one. Returns 0 or -errno. Logs
 * nothing. */
int passthrough_try_forget(const struct session *session, int backing);
