// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/content.h"
#include "fuse/fuse_internal.h"

struct sched_job;

/*
 * FUSE passthrough: the answer to the open of a sample (reply_open) is "read it from that file", by
 * the file's number (backing.h). Then only its release comes to this process.
 *
 * While an inode is open, the kernel fails an open of it that names another file. So the
 * file behind a sample depends on its tensor alone, and all readers that have a position open
 * share its epoch: see sample_file_new.
 *
 *   Threads: any.   Errors: a sample that can't be passed through is read through us.
 */

/* The files behind ours are plain files, and not passed through themselves. */
#define PASSTHROUGH_STACK_DEPTH 1

/* Tells whether the session may ask for the feature: it mounts the whole tree, and the process
 * may register files with the kernel (CAP_SYS_ADMIN). */
bool passthrough_possible(const struct session *session);

/* Lets samples' files be registered with the kernel. Called when the session has begun. */
void passthrough_begin(struct session *session);
/* Ends the registering, before the session ends. */
void passthrough_end(struct session *session);

/* Returns the kernel's number of the file that the content can be read from; 0: it is read
 * through us. */
int passthrough_of(const struct session *session, const struct sched_job *job,
	const struct content *content);

/* Makes the kernel forget a registered file; a failure is logged. */
void passthrough_forget(const struct session *session, int backing);
/* Makes the kernel forget the file of this number, if there is one. */
void passthrough_try_forget(const struct session *session, int backing);
