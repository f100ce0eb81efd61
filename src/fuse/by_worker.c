// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/by_worker.h"
#include "fuse/reader.h"
#include "sched/sched.h"

#include <errno.h>

static void run(struct load_work *work)
{
	struct by_worker *by_worker = struct_of(work, struct by_worker, work);
	/* waits until a running `interrupted` has returned */
	fuse_req_interrupt_func(by_worker->req, NULL, NULL);
	by_worker->answer(by_worker);
}

/* Gives up if the reader is about to die and no worker has begun. If the interrupt comes before
 * this function is registered, fuse_req_interrupt_func itself calls this function. In this case no
 * worker has the work yet, and by_worker_start gives up. */
static void interrupted(fuse_req_t req, void *context)
{
	struct by_worker *by_worker = context;
	if (!reader_dies(req))
		return;
	atomic_store(&by_worker->interrupted, true);
	if (sched_take_back(by_worker->session->context.sched, &by_worker->work))
		by_worker->give_up(by_worker);
}

void by_worker_start(struct by_worker *by_worker)
{
	by_worker->work = (struct load_work){.run = run, .waits = by_worker->waits};
	atomic_init(&by_worker->interrupted, false);
	fuse_req_interrupt_func(by_worker->req, interrupted, by_worker);
	if (!atomic_load(&by_worker->interrupted)) {
		sched_run(by_worker->session->context.sched, &by_worker->work);
		return;
	}
	fuse_req_interrupt_func(by_worker->req, NULL, NULL);
	by_worker->give_up(by_worker);
}

struct copy {
	struct by_worker by_worker; /* comes first, so that pointers can be cast */
	struct request request;
	void (*answer)(const struct request *request);
};

static void copy_free(struct copy *copy)
{
	session_unhold(copy->request.session);
	free(copy);
}

static void answer_copy(struct by_worker *by_worker)
{
	struct copy *copy = (struct copy *)by_worker;
	copy->answer(&copy->request);
	copy_free(copy);
}

static void give_up_copy(struct by_worker *by_worker)
{
	reply_error(by_worker->req, -EINTR);
	copy_free((struct copy *)by_worker);
}

void by_worker_answer(
	const struct request *wanted, void (*answer)(const struct request *request))
{
	struct copy *copy = malloc(sizeof(*copy));
	if (!copy) {
		reply_error(wanted->req, -ENOMEM);
		return;
	}
	*copy = (struct copy){.by_worker = {.req = wanted->req,
				      .session = wanted->session,
				      .answer = answer_copy,
				      .give_up = give_up_copy},
		.request = *wanted,
		.answer = answer};
	session_hold(wanted->session);
	by_worker_start(&copy->by_worker);
}
