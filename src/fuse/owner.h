// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"

struct sched_job;

/*
 * Owners of a job's files, and the check of who may read them.
 *
 *   Flow: requests that open a file or a directory, or find a name in one, are checked here.
 *         The kernel could check (default_permissions), but would ask for the attributes of
 *         jobs/ and jobs/NAME with each open, since their times change with the epochs.
 *   Threads: FUSE's.
 *   Errors: -EACCES.
 */

#define OWNER_SEARCH 1u /* the right to find a name in the directory */
#define OWNER_READ 4u	/* the right to read the inode */

/* Tells whether rights are checked; else each process that the kernel lets in may read
 * everything. */
bool owner_is_checked(const struct session *session);

/* Checks the rights of the request's process to an inode. 0: it has them, or the inode is of no
 * job. Below a job's directory each read needs the right to search, too. */
must_check int owner_check(fuse_req_t req, struct inode inode, unsigned wanted);

/* Sets owner, group and mode of an inode in the job. */
void owner_show(
	const struct session *session, const struct sched_job *job, struct stat *st);
