// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/opening.h"
#include "base/clock.h"
#include "base/fault.h"
#include "files/content_bytes.h"
#include "fuse/await_close.h"
#include "fuse/by_worker.h"
#include "fuse/handle.h"
#include "fuse/handover.h"
#include "fuse/label_file.h"
#include "fuse/reader.h"
#include "fuse/sample_file.h"
#include "fuse/text_file.h"
#include "sched/gauges.h"
#include "sched/jobs.h"
#include "stats/stats.h"

#include <errno.h>

/*
 * An open, or a read of a file that an earlier engine opened, until the request is answered. Three
 * threads may work on the request: the one that received it, the worker that finished the sample,
 * and the one that handles an interrupt.
 *
 * - The scheduler calls `opened` exactly once for each sched_open that succeeds. `opened` answers
 *   the request and frees the opening, or calls sched_open again, or passes the answer to a worker,
 *   because no FUSE thread computes a content.
 * - libfuse may be about to call `interrupted` when the request is answered. So `opened` first
 *   unregisters `interrupted` by fuse_req_interrupt_func, which waits until a running `interrupted`
 *   has returned.
 * - `interrupted` calls sched_cancel, which may call `opened`. In such a call `opened` must not
 *   unregister `interrupted`, because `opened` would wait for its own caller.
 */
struct opening {
	struct request request;
	/* true: a read of a file that an earlier engine opened; false: an open */
	bool again;
	struct sched_job *job;
	uint64_t begun_ns;
	uint64_t unique; /* number of the request, from handover_request() */
	bool parked;
	uint64_t ticket;
	struct sched_handle *handle; /* set when the position is opened */
	struct by_worker by_worker;  /* in use while a worker makes the content */
	struct close_waiter waiter;  /* in use while other readers keep the file open */
	uint32_t epoch; /* epoch in which the open is tried again after the wait */
	/* The second file of a pair (such as the mask of an image) in current/ is opened in two
	 * steps: the first, in which `finds` is true, opens the position's label, to find the
	 * epoch; the second opens the sample in this epoch. */
	bool finds;
};

/* The opening whose interrupt this thread is handling. */
static _Thread_local const struct opening *interrupting;

static void opening_free(struct opening *opening)
{
	sched_job_put(opening->job);
	session_unhold(opening->request.session);
	free(opening);
}

static void interrupted(fuse_req_t req, void *context)
{
	struct opening *opening = context;
	if (!reader_dies(req))
		return;
	interrupting = opening;
	sched_cancel(opening->request.session->context.sched, opening->ticket);
	interrupting = NULL;
}

static void parking(void *context, uint64_t ticket)
{
	struct opening *opening = context;
	opening->ticket = ticket;
	opening->parked = true;
	fuse_req_interrupt_func(opening->request.req, interrupted, opening);
}

static uint32_t label_of(struct sched_job *job, uint32_t epoch, sample_id sample)
{
	auto_edition *edition = sched_edition(job, epoch);
	return dataset_label(edition->dataset, sample);
}

static void answer_label(struct opening *opening)
{
	struct sched_handle *handle = opening->handle;
	const struct request *request = &opening->request;
	struct sched_job *job = opening->job;
	sample_id sample = sched_handle_sample(handle);
	uint32_t epoch = sched_handle_epoch(handle);
	bool text = inode_is_text_of_sample(request->inode.kind);
	if (text && opening->again)
		text_file_again_of_sample(request, job, sample);
	else if (text)
		text_file_open_of_sample(request, job, epoch, sample);
	else if (opening->again)
		label_file_read_again(request, job, label_of(job, epoch, sample));
	else
		label_file_opened(request, job, epoch, label_of(job, epoch, sample));
	sched_undo(handle);
}

/* Answers the open. If this succeeds, the kernel may release the file before the function returns,
 * so the caller must not use the file any more. */
static int reply(struct opening *opening, const struct open_file *file)
{
	struct request *request = &opening->request;
	request->fi.fh = file->handle;
	(void)fault_hit("fuse.answer");
	session_set_io(request->session, opening->job, request->inode, &request->fi);
	return reply_open(request->req, &request->fi, file->backing);
}

static void hand_over(struct opening *opening, struct open_file *file)
{
	int backing = file->backing;
	uint64_t waited_ns = sched_handle_waited(opening->handle);
	if (backing) /* no read comes to the daemon, so the file counts as read now */
		reader_has_read(opening->request.req);
	if (reply(opening, file) != 0) {
		open_file_undo(file);
		return;
	}
	stats_add(STAT_OPENS, 1);
	uint64_t latency_ns = clock_now_ns() - opening->begun_ns;
	stats_record(STATS_OPEN_LATENCY, latency_ns);
	sched_job_took(opening->job, latency_ns - waited_ns);
	if (backing)
		stats_add(STAT_PASSED_OPENS, 1);
}

static void opened(void *context, const struct sched_opened *result);

/* Opens the position. May answer the request and free the opening before returning. */
static void ask(struct opening *opening, uint32_t epoch)
{
	fuse_req_t req = opening->request.req;
	struct inode inode = opening->request.inode;
	struct sched_open_callbacks callbacks = {.opened = opened,
		.parking = parking,
		.context = opening,
		.reader = reader_of(req),
		.names = inode.names};
	opening->finds = inode.kind == INODE_PAIR && epoch == SCHED_CURRENT;
	callbacks.label = !inode_is_sample(inode) || opening->finds;
	if (inode.kind == INODE_PAIR && !opening->finds)
		callbacks.reader = (struct sched_reader){0};
	int err = sched_open(opening->job, epoch, inode.position, &callbacks);
	/* EAGAIN: another script reads current/. sched_look finds out whether the other script has
	 * ended, so a second try may succeed. */
	if (err == -EAGAIN) {
		sched_look(opening->job);
		err = sched_open(opening->job, epoch, inode.position, &callbacks);
	}
	if (!err)
		return;
	reply_error(req, err);
	opening_free(opening);
}

static void ask_again(struct load_work *work)
{
	struct opening *opening = struct_of(work, struct opening, waiter.work);
	await_close_end(opening->request.session, &opening->waiter);
	ask(opening, opening->epoch);
}

static void answer_sample(struct opening *opening)
{
	struct open_file *file = NULL;
	uint32_t epoch = 0, asked = sched_handle_epoch(opening->handle);
	opening->parked = false;
	opening->epoch = asked;
	opening->waiter.work.run = ask_again;
	int err = sample_file_new(&opening->request, opening->job, opening->handle,
		&opening->waiter, &file, &epoch);
	if (err == -EAGAIN && epoch == SCHED_CURRENT)
		return;
	/* The position is opened in the epoch in which other readers have it open. */
	if (err == -EAGAIN && epoch != asked) {
		reader_shares(
			opening->request.req, inode_pack(opening->request.inode), epoch);
		ask(opening, epoch);
		return;
	}
	/* EAGAIN: a file of a removed job is still open, and has this inode number, too. */
	if (err)
		reply_error(opening->request.req, err == -EAGAIN ? -EBUSY : err);
	else
		hand_over(opening, file);
	opening_free(opening);
}

static void answer(struct opening *opening)
{
	bool sample = inode_is_sample(opening->request.inode);
	handover_answers(opening->unique);
	if (sample && !opening->again) {
		answer_sample(opening);
		return;
	}
	if (sample)
		sample_file_read_again(&opening->request, opening->job, opening->handle);
	else
		answer_label(opening);
	opening_free(opening);
}

static struct opening *opening_of(struct by_worker *by_worker)
{
	return struct_of(by_worker, struct opening, by_worker);
}

static void answer_by_worker(struct by_worker *by_worker)
{
	answer(opening_of(by_worker));
}

static void give_up(struct by_worker *by_worker)
{
	struct opening *opening = opening_of(by_worker);
	sched_undo(opening->handle);
	reply_error(by_worker->req, -EINTR);
	opening_free(opening);
}

static bool takes_long(const struct opening *opening)
{
	struct inode inode = opening->request.inode;
	return inode_is_text_of_sample(inode.kind) ||
	       (inode_is_sample(inode) &&
		       content_is_computed(sched_job_config(opening->job)));
}

static bool waits_for_server(const struct opening *opening)
{
	if (!inode_is_text_of_sample(opening->request.inode.kind))
		return false;
	auto_edition *edition =
		sched_edition(opening->job, sched_handle_epoch(opening->handle));
	return edition->beside_waits;
}

static void opened(void *context, const struct sched_opened *result)
{
	struct opening *opening = context;
	fuse_req_t req = opening->request.req;
	if (opening->parked && interrupting != opening)
		fuse_req_interrupt_func(req, NULL, NULL);
	if (result->status) {
		reply_error(req, result->status);
		opening_free(opening);
		return;
	}
	if (opening->finds) {
		uint32_t epoch = sched_handle_epoch(result->handle);
		sched_undo(result->handle);
		opening->parked = false;
		ask(opening, epoch);
		return;
	}
	opening->handle = result->handle;
	opening->by_worker = (struct by_worker){.req = req,
		.session = opening->request.session,
		.answer = answer_by_worker,
		.give_up = give_up,
		.waits = waits_for_server(opening)};
	if (takes_long(opening))
		by_worker_start(&opening->by_worker);
	else
		answer(opening);
}

/* Answers the request with an error and returns NULL if there is no memory or no job. */
static struct opening *opening_new(const struct request *request, bool again)
{
	struct sched_job *job =
		sched_job_find_id(request->session->context.sched, request->inode.job);
	struct opening *opening = job ? malloc(sizeof(*opening)) : NULL;
	if (!opening) {
		reply_error(request->req, job ? -ENOMEM : -ENOENT);
		if (job)
			sched_job_put(job);
		return NULL;
	}
	*opening = (struct opening){.request = *request,
		.again = again,
		.job = job,
		.begun_ns = clock_now_ns(),
		.unique = handover_request()};
	session_hold(request->session);
	return opening;
}

/* Returns the epoch in which to open the file. If the kernel sends the open again, this is the
 * epoch that an earlier engine chose; otherwise the epoch of the file's directory. A label, text or
 * second file in current/ gets the epoch that reader_shares noted for its sample. */
static uint32_t epoch_of(const struct request *request)
{
	struct inode inode = request->inode;
	uint32_t before, epoch = inode_sched_epoch(inode);
	bool had = open_file_take_back(request->session, &before);
	if (epoch != SCHED_CURRENT || had)
		return had ? before : epoch;
	bool label = inode.kind != INODE_SAMPLE;
	inode.kind = INODE_SAMPLE;
	return label ? reader_shared(request->req, inode_pack(inode)) : SCHED_CURRENT;
}

static bool has_fixed_label(const struct opening *opening, uint32_t *ret)
{
	struct inode inode = opening->request.inode;
	return inode.kind == INODE_LABEL &&
	       sched_label(opening->job, inode_sched_epoch(inode), inode.position, ret);
}

static void opening_start(const struct request *request)
{
	struct opening *opening = opening_new(request, false);
	if (!opening)
		return;
	uint32_t label, epoch = epoch_of(request);
	if (has_fixed_label(opening, &label)) {
		handover_answers(opening->unique);
		label_file_opened(request, opening->job, request->inode.epoch, label);
		opening_free(opening);
	} else {
		ask(opening, epoch);
	}
}

static void opening_again(const struct request *request)
{
	struct opening *opening = opening_new(request, true);
	uint32_t label;
	if (!opening)
		return;
	if (has_fixed_label(opening, &label)) {
		label_file_read_again(request, opening->job, label);
		opening_free(opening);
	} else {
		ask(opening, handle_epoch(request->fi.fh));
	}
}

const struct open_file_ops opening_sample_ops = {.open = opening_start,
	.read = sample_file_read,
	.again = opening_again,
	.consume = sample_file_consume,
	.outlives = sample_file_outlives,
	.end = sample_file_end};

const struct open_file_ops opening_label_ops = {.open = opening_start,
	.read = label_file_read,
	.again = opening_again,
	.outlives = label_file_outlives};

const struct open_file_ops opening_text_ops = {.open = opening_start,
	.read = text_file_read,
	.again = opening_again,
	.end = text_file_end};
