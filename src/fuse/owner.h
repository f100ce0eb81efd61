// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

struct sched_job;

/*
 * Owners of a job's files, and the check of who may read them. The kernel could check
 * (default_permissions). But the times of jobs/ and jobs/NAME change with the epochs, so the kernel
 * would ask for their attributes at each open.
 *
 *   Threads: FUSE's.   Errors: -EACCES.
 */

#define OWNER_SEARCH 1u /* the right to find a name in the directory */
#define OWNER_READ 4u	/* the right to read the inode */

/* Tells whether an inode of this kind is a job's directory, or lies in one. Links in data/ do not,
 * so everybody may read them. */
bool owner_is_job(enum inode_kind kind);

/* Tells whether the daemon checks rights; if not, each process that the kernel lets in may read. */
bool owner_is_checked(const struct session *session);

/* Checks the requesting process's rights to an inode. Returns 0 if they suffice, or if the inode
 * belongs to no job. Below a job's directory, OWNER_SEARCH is needed besides `wanted`. */
must_check int owner_check(fuse_req_t req, struct inode inode, unsigned wanted);

/* Sets the owner, group and mode of an inode in the job. Does nothing if the session's mount is for
 * everybody (kept_mount.everybody). */
void owner_show(
	const struct session *session, const struct sched_job *job, struct stat *st);
