// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse_internal.h"
#include "load/load.h"

/*
 * Requests whose answers take long. A worker computes and sends the answer. If the reader is killed
 * before a worker has begun, the request ends at once.
 *
 *   Owns: nothing. Either `answer` or `give_up` is called, and must answer the request.
 *   Threads: any; a worker calls `answer`, any thread `give_up`.   Locks: none.
 */
struct by_worker {
	fuse_req_t req;
	struct session *session;
	void (*answer)(struct by_worker *by_worker);
	/* called if the reader is killed before a worker has begun; has to answer -EINTR */
	void (*give_up)(struct by_worker *by_worker);
	bool waits; /* the answer may have to wait for a server */
	/* The fields from here on are private to by_worker.c. */
	struct load_work work;
	atomic_bool interrupted;
};

/* Passes the request to a worker. If the reader is already killed, calls `give_up` instead. */
void by_worker_start(struct by_worker *by_worker);

/* Makes a worker call `answer` with a copy of the request. The session can't end before `answer`
 * has returned. Without memory for the copy, answers -ENOMEM. */
void by_worker_answer(
	const struct request *wanted, void (*answer)(const struct request *request));
