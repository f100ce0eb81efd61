// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"
#include "load/load.h"

/*
 * Requests that take long to answer, but need not wait for anything. A worker answers them. If the
 * reader is killed before a worker has begun, its request ends at once.
 *
 *   Owns: nothing; the function answer or give_up takes over the request.
 *   Threads: any; answer is called by a worker, give_up by any thread.   Locks: none.
 */
struct by_worker {
	fuse_req_t req;
	struct session *session;
	void (*answer)(struct by_worker *by_worker);
	/* Answers the request with -EINTR. */
	void (*give_up)(struct by_worker *by_worker);
	bool waits; /* the answer depends on a server, and may have to wait */
	/* The member below is private to by_worker.c. */
	struct load_work work;
	atomic_bool interrupted;
};

/* Passes the request to a worker. If it is interrupted already, calls give_up instead. */
void by_worker_start(struct by_worker *by_worker);

/* Makes a worker call `answer` with a copy of the request. The session is held until then. If there
 * is no memory for the copy, the request is answered with -ENOMEM. */
void by_worker_answer(
	const struct request *wanted, void (*answer)(const struct request *request));
