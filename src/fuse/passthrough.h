// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/content.h"
#include "fuse/fuse_internal.h"

/*
 * FUSE passthrough: an open of a sample is answered by "read it from that file", and then
 * only its release comes to us.
 *
 * The kernel wants all who have an inode open at a time to have the same file behind it,
 * or fails the open. So what a file is read from depends on its tensor alone, and who has
 * a position open shares it with those who open it: see sample_file_new.
 *
 *   Threads: any.   Errors: a file that can't be passed through is read through us.
 */

/* Below our files there are none that are passed through themselves. */
#define PASSTHROUGH_STACK_DEPTH 1

/* Whether the session may ask for it: it is the main mount's, and we may tell the kernel
 * of files. */
bool passthrough_possible(const struct session *session);

/* The session has begun, or is about to end. */
void passthrough_begin(struct session *session);
void passthrough_end(struct session *session);

/* The kernel's number for what a reader of the job is to get; 0: it has to ask us. */
int passthrough_of(const struct session *session, const struct sched_job *job,
	const struct content *content);

/* The answer to an open. As fuse_reply_open. */
int passthrough_reply(fuse_req_t req, uint64_t fh, int id);
