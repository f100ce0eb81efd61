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
	void (*answer)(struct by_worker *by_worker);
	/* answers the request with -EINTR */
	void (*give_up)(struct by_worker *by_worker);
	bool waits; /* the answer has to wait for a server */
	/* private to by_worker.c */
	struct load_work work;
	atomic_bool interrupted;
};

/* Gives the request to a worker, or calls give_up if it is interrupted already. */
void by_worker_start(struct by_worker *by_worker);

/* Has a worker call `answer` with a copy of the request, and holds the session until it is
 * answered. If there is no memory for the copy the answer is -ENOMEM. */
void by_worker_answer(
	const struct request *wanted, void (*answer)(const struct request *request));
