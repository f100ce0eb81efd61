// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/content.h"
#include "fuse/fuse_internal.h"

struct sched_job;

/*
 * FUSE passthrough: the answer to the open of a sample is "read it from that file", by
 * the file's number (backing.h). Then only its release comes to us.
 *
 * While an inode is open, the kernel fails an open of it that names another file. So the
 * file behind a sample depends on its tensor alone, and all that have a position open
 * share the epoch: see sample_file_new.
 *
 *   Threads: any.   Errors: a sample that can't be passed through is read through us.
 */

/* The files behind ours are plain files, and not passed through themselves. */
#define PASSTHROUGH_STACK_DEPTH 1

/* Whether the session may ask for the feature: it is the whole tree's, and the process
 * may tell the kernel of files. */
bool passthrough_possible(const struct session *session);

/* When the session has begun, and before it ends. */
void passthrough_begin(struct session *session);
void passthrough_end(struct session *session);

/* The kernel's number of the file that the content can be read from; 0: it is read
 * through us. */
int passthrough_of(const struct session *session, const struct sched_job *job,
	const struct content *content);

/* The kernel forgets a file of an engine before this one; try: if there is one. */
void passthrough_forget(const struct session *session, int backing);
void passthrough_try_forget(const struct session *session, int backing);

/* The answer to an open. As fuse_reply_open. */
int passthrough_reply(fuse_req_t req, uint64_t fh, int id);
