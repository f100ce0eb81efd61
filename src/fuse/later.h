// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"
#include "load/load.h"

/*
 * Requests that take long to answer, but wait for nothing: a worker answers them. A reader
 * that is killed before a worker has begun goes at once.
 *
 *   Owns: nothing; from the call of answer or give_up on, the request is the callee's.
 *   Threads: any; answer is called by a worker, give_up by any thread.   Locks: none.
 */
struct later {
	fuse_req_t req;
	struct session *session;
	void (*answer)(struct later *later);
	/* The request has to be answered with -EINTR. */
	void (*give_up)(struct later *later);
	bool waits; /* the answer has to wait for a server */
	/* later.c's */
	struct load_work work;
	atomic_bool interrupted;
};

void later_start(struct later *later);

/* One that needs no more than this. Copied; without memory for that -ENOMEM is the
 * answer. The session is held until it is answered. */
struct later_request {
	struct later later; /* its req and session */
	struct inode inode;
	uint64_t handle;
	size_t size;
	uint64_t offset;
	void (*answer)(const struct later_request *request);
};

void later_request(const struct later_request *wanted);
