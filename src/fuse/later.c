// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/later.h"
#include "fuse/reader.h"
#include "sched/sched.h"

#include <errno.h>

static void run(struct load_work *work)
{
	size_t offset = offsetof(struct later, work);
	struct later *later = (struct later *)((char *)work - offset);
	/* Waits until `interrupted` has returned, if it runs. */
	fuse_req_interrupt_func(later->req, NULL, NULL);
	later->answer(later);
}

/* libfuse calls this at once if the interrupt came first: then there is no work yet. */
static void interrupted(fuse_req_t req, void *context)
{
	struct later *later = context;
	/* The pid of another name space says nothing. */
	if (!later->session->other_pids && !reader_dies(fuse_req_ctx(req)))
		return;
	atomic_store(&later->interrupted, true);
	if (sched_take_back(later->session->context.sched, &later->work))
		later->give_up(later);
}

void later_start(struct later *later)
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

static void request_free(struct later_request *request)
{
	session_unhold(request->later.session);
	free(request);
}

static void answer(struct later *later)
{
	struct later_request *request = (struct later_request *)later; /* first member */
	request->answer(request);
	request_free(request);
}

static void give_up(struct later *later)
{
	reply_error(later->req, -EINTR);
	request_free((struct later_request *)later);
}

void later_request(const struct later_request *wanted)
{
	struct later_request *request = malloc(sizeof(*request));
	if (!request) {
		reply_error(wanted->later.req, -ENOMEM);
		return;
	}
	*request = *wanted;
	request->later.answer = answer;
	request->later.give_up = give_up;
	session_hold(request->later.session);
	later_start(&request->later);
}
