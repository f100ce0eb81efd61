// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/by_worker.h"
#include "fuse/reader.h"
#include "sched/sched.h"

#include <errno.h>

static void run(struct load_work *work)
{
	size_t offset = offsetof(struct by_worker, work);
	struct by_worker *later = (struct by_worker *)((char *)work - offset);
	/* Waits until `interrupted` has returned, if it runs. */
	fuse_req_interrupt_func(later->req, NULL, NULL);
	later->answer(later);
}

/* libfuse calls this at once if the interrupt came first: then there is no work yet. */
static void interrupted(fuse_req_t req, void *context)
{
	struct by_worker *later = context;
	/* The pid of another name space says nothing. */
	if (!later->session->other_pids && !reader_dies(fuse_req_ctx(req)))
		return;
	atomic_store(&later->interrupted, true);
	if (sched_take_back(later->session->context.sched, &later->work))
		later->give_up(later);
}

void by_worker_start(struct by_worker *later)
{
	later->work = (struct load_work){.run = run, .waits = later->waits};
	atomic_init(&later->interrupted, false);
	fuse_req_interrupt_func(later->req, interrupted, later);
	if (!atomic_load(&later->interrupted)) {
		sched_run(later->session->context.sched, &later->work);
		return;
	}
	fuse_req_interrupt_func(later->req, NULL, NULL);
	later->give_up(later);
}

/* --- one that needs little ---------------------------------------------------------- */

static void request_free(struct by_worker_request *request)
{
	session_unhold(request->later.session);
	free(request);
}

static void answer(struct by_worker *later)
{
	struct by_worker_request *request =
		(struct by_worker_request *)later; /* first member */
	request->answer(request);
	request_free(request);
}

static void give_up(struct by_worker *later)
{
	reply_error(later->req, -EINTR);
	request_free((struct by_worker_request *)later);
}

void by_worker_request(const struct by_worker_request *wanted)
{
	struct by_worker_request *request = malloc(sizeof(*request));
	if (!request) {
		reply_error(wanted->later.req, -ENOMEM);
		return;
	}
	*request = *wanted;
	request->later.answer = answer;
	request->later.give_up = give_up;
	session_hold(request->later.session);
	by_worker_start(&request->later);
}
