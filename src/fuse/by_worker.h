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
struct by_worker {
	fuse_req_t req;
	struct session *session;
	void (*answer)(struct by_worker *later);
	/* answers the request with -EINTR */
	void (*give_up)(struct by_worker *later);
	bool waits; /* the answer has to wait for a server */
	/* private to by_worker.c */
	struct load_work work;
	atomic_bool interrupted;
};

/* Gives the request to a worker, or calls give_up if it is interrupted already. */
void by_worker_start(struct by_worker *later);

/* A request that needs no more than these members. It is copied, and the session is held until
 * it is answered. If there is no memory for the copy the answer is -ENOMEM. */
struct by_worker_request {
	struct by_worker later; /* the caller sets req and session */
	struct inode inode;
	uint64_t handle;
	size_t size;
	uint64_t offset;
	void (*answer)(const struct by_worker_request *request);
};

void by_worker_request(const struct by_worker_request *wanted);
