// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/fault.h"
#include "files/content_bytes.h"
#include "fuse/handle.h"
#include "fuse/label_file.h"
#include "fuse/by_worker.h"
#include "fuse/handover.h"
#include "fuse/passthrough.h"
#include "fuse/reader.h"
#include "fuse/sample_file.h"
#include "sched/gauges.h"
#include "sched/jobs.h"
#include "stats/stats.h"

#include <errno.h>

/*
 * An open on its way to its answer. Three threads may meet at a parked open: the thread
 * that took the request, the worker that finished the sample, and the thread that took an
 * interrupt.
 *
 *   - `opened` is called exactly once. It alone answers and frees.
 *   - While libfuse runs `interrupted`, it holds the request's own lock, and it may have
 *     fetched the function just before the request is answered. So `opened` first takes
 *     the function back, which waits until it has returned.
 *   - sched_cancel may call `opened` from within `interrupted`. Then waiting would never
 *     end, and there is nothing to wait for.
 *   - No thread of FUSE computes a content: `opened` leaves this to a worker.
 */
struct opening {
	fuse_req_t req;
	struct session *session;
	struct sched_job *job;
	struct inode inode;
	struct fuse_file_info fi;
	uint64_t begun_ns;
	uint64_t request; /* the kernel's number of the request */
	uint64_t again;	  /* the handle of a file that another engine has opened: */
	size_t size;	  /* then the request is a read of it */
	uint64_t offset;
	bool parked;
	uint64_t ticket;
	struct sched_handle *handle; /* set once it is opened */
	struct by_worker later;	     /* used while a worker makes the content */
	struct close_waiter waiter;  /* used while another epoch is open */
	uint32_t epoch;		     /* the epoch to ask for then */
	/* The label is opened first, to find the epoch: in current/ the second file of a pair
	 * has the epoch that a label would have. Then the sample is opened. */
	bool finds;
};

/* The opening that this thread interrupts. */
static _Thread_local const struct opening *interrupting;

static void opening_free(struct opening *opening)
{
	sched_job_put(opening->job);
	session_unhold(opening->session);
	free(opening);
}

static void interrupted(fuse_req_t req, void *context)
{
	struct opening *opening = context;
	/* The pid of another name space says nothing. */
	if (!opening->session->other_pids && !reader_dies(fuse_req_ctx(req)))
		return;
	interrupting = opening;
	sched_cancel(opening->session->context.sched, opening->ticket);
	interrupting = NULL;
}

static void parking(void *context, uint64_t ticket)
{
	struct opening *opening = context;
	opening->ticket = ticket;
	opening->parked = true;
	fuse_req_interrupt_func(opening->req, interrupted, opening);
}

static uint32_t label_of(struct sched_job *job, uint32_t epoch, sample_id sample)
{
	auto_edition *edition = sched_edition(job, epoch);
	return dataset_label(edition->dataset, sample);
}

static void answer_again(
	struct opening *opening, struct sched_job *job, uint32_t epoch, sample_id sample)
{
	struct inode inode = opening->inode;
	if (inode.kind == INODE_LABEL) {
		label_file_read_again(opening->req, job, label_of(job, epoch, sample),
			opening->size, opening->offset);
		return;
	}
	int err = text_file_again_of_sample(
		opening->session, job, inode, sample, opening->again);
	if (err)
		reply_error(opening->req, err);
	else if (!text_file_read(opening->req, opening->session, inode, opening->again,
			 opening->size, opening->offset))
		reply_error(opening->req, -EIO);
}

static void answer_label(struct opening *opening, struct sched_handle *handle)
{
	sample_id sample = sched_handle_sample(handle);
	if (opening->again)
		answer_again(opening, opening->job, sched_handle_epoch(handle), sample);
	else if (inode_is_text_of_sample(opening->inode.kind))
		text_file_open_of_sample(opening->req, opening->session, opening->job,
			opening->inode, sched_handle_epoch(handle), sample, &opening->fi);
	else
		label_file_opened(opening->req, opening->session, opening->job,
			opening->inode, sched_handle_epoch(handle),
			label_of(opening->job, sched_handle_epoch(handle), sample),
			&opening->fi);
	sched_undo(handle);
}

/* Answers an open. After a success, the kernel may release the file before this returns. */
static int reply(struct opening *opening, struct sample_file *file, int backing)
{
	opening->fi.fh = sample_file_handle(file);
	(void)fault_hit("fuse.answer");
	if (backing)
		return passthrough_reply(opening->req, opening->fi.fh, backing);
	session_set_io(opening->session, opening->job, opening->inode, &opening->fi);
	return fuse_reply_open(opening->req, &opening->fi);
}

/* Answers a read of a file that a previous engine has opened. Another read may have opened it
 * again already. */
static void read_again(struct opening *opening, struct sched_handle *handle)
{
	struct sample_file *file = NULL;
	int err = sample_file_again(opening->session, opening->job, opening->inode,
		handle, opening->again, &file);
	if (err == -EEXIST)
		file = sample_file_find(opening->session, opening->again);
	if (file)
		sample_file_read(opening->req, opening->session, file, opening->size,
			opening->offset);
	else
		reply_error(opening->req, err == -EEXIST ? -EIO : err);
}

static void hand_over(struct opening *opening, struct sample_file *file)
{
	int backing = sample_file_backing(file);
	uint64_t waited_ns = sched_handle_waited(opening->handle);
	if (backing) /* its reads won't come to this process */
		reader_has_read(opening->req);
	if (reply(opening, file, backing) != 0) {
		sample_file_undo(opening->session, file);
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

/* Asks for the epoch's sample. The sample may be there at once, and the opening is then freed. */
static void ask(struct opening *opening, uint32_t epoch)
{
	fuse_req_t req = opening->req;
	struct sched_open_callbacks callbacks = {.opened = opened,
		.parking = parking,
		.context = opening,
		.reader = reader_of(req),
		.names = opening->inode.names};
	opening->finds = opening->inode.kind == INODE_PAIR && epoch == SCHED_CURRENT;
	bool sample = inode_is_sample(opening->inode) && !opening->finds;
	if (opening->inode.kind == INODE_PAIR && sample)
		callbacks.reader = (struct sched_reader){0};
	int (*open)(struct sched_job *, uint32_t, uint32_t,
		const struct sched_open_callbacks *) =
		sample ? sched_open : sched_open_label;
	int err = open(opening->job, epoch, opening->inode.position, &callbacks);
	if (err == -EAGAIN) { /* perhaps the programs that read current/ have ended */
		sched_look(opening->job);
		err = open(opening->job, epoch, opening->inode.position, &callbacks);
	}
	if (!err)
		return;
	reply_error(req, err);
	opening_free(opening);
}

static void ask_again(struct load_work *work)
{
	size_t offset =
		offsetof(struct opening, waiter) + offsetof(struct close_waiter, work);
	struct opening *opening = (struct opening *)((char *)work - offset);
	await_close_end(opening->session, &opening->waiter);
	ask(opening, opening->epoch);
}

/* Opens the epoch that other readers keep open. */
static void share(struct opening *opening, uint32_t epoch)
{
	reader_shares(opening->req, inode_pack(opening->inode), epoch);
	ask(opening, epoch);
}

static void answer_sample(struct opening *opening, struct sched_handle *handle)
{
	struct sample_file *file = NULL;
	uint32_t epoch = 0, asked = sched_handle_epoch(handle);
	opening->parked = false;
	opening->epoch = asked;
	opening->waiter.work.run = ask_again;
	int err = sample_file_new(opening->session, opening->job, opening->inode, handle,
		&opening->waiter, &file, &epoch);
	if (err == -EAGAIN && epoch == SCHED_CURRENT)
		return;
	if (err == -EAGAIN && epoch != asked) {
		share(opening, epoch);
		return;
	}
	if (err) /* -EAGAIN: of a removed job, whose number another job has now */
		reply_error(opening->req, err == -EAGAIN ? -EBUSY : err);
	else
		hand_over(opening, file);
	opening_free(opening);
}

static void answer(struct opening *opening)
{
	bool sample = inode_is_sample(opening->inode);
	handover_answers(opening->request);
	if (sample && !opening->again) {
		answer_sample(opening, opening->handle);
		return;
	}
	if (sample)
		read_again(opening, opening->handle);
	else
		answer_label(opening, opening->handle);
	opening_free(opening);
}

static struct opening *opening_of(struct by_worker *later)
{
	return (struct opening *)((char *)later - offsetof(struct opening, later));
}

static void answer_later(struct by_worker *later)
{
	answer(opening_of(later));
}

static void give_up(struct by_worker *later)
{
	struct opening *opening = opening_of(later);
	sched_undo(opening->handle);
	reply_error(opening->req, -EINTR);
	opening_free(opening);
}

/* Tells whether a worker has to answer: it reads the catalogue, or computes a content that is
 * not the shared tensor itself. */
static bool takes_long(const struct opening *opening)
{
	return inode_is_text_of_sample(opening->inode.kind) ||
	       (inode_is_sample(opening->inode) &&
		       content_is_computed(sched_job_config(opening->job)));
}

static bool waits_for_server(const struct opening *opening)
{
	if (!inode_is_text_of_sample(opening->inode.kind))
		return false;
	auto_edition *edition =
		sched_edition(opening->job, sched_handle_epoch(opening->handle));
	return edition->beside_waits;
}

static void opened(void *context, const struct sched_opened *result)
{
	struct opening *opening = context;
	if (opening->parked && interrupting != opening)
		fuse_req_interrupt_func(opening->req, NULL, NULL);
	if (result->status) {
		reply_error(opening->req, result->status);
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
	opening->later = (struct by_worker){.req = opening->req,
		.session = opening->session,
		.answer = answer_later,
		.give_up = give_up,
		.waits = waits_for_server(opening)};
	if (takes_long(opening))
		by_worker_start(&opening->later);
	else
		answer(opening);
}

static int opening_new(fuse_req_t req, struct session *session, struct inode inode,
	const struct fuse_file_info *fi, struct opening **ret)
{
	struct sched_job *job = sched_job_find_id(session->context.sched, inode.job);
	if (!job)
		return -ENOENT;
	struct opening *opening = malloc(sizeof(*opening));
	if (!opening) {
		sched_job_put(job);
		return -ENOMEM;
	}
	*opening = (struct opening){.req = req,
		.session = session,
		.job = job,
		.inode = inode,
		.fi = *fi,
		.begun_ns = clock_now_ns(),
		.request = handover_request()};
	session_hold(session);
	*ret = opening;
	return 0;
}

/* Returns the epoch to open. An epoch that a previous engine has found, but not told, stays. A
 * label belongs to the sample that the reader had to share. */
static uint32_t epoch_of(fuse_req_t req, struct session *session, struct inode inode)
{
	uint32_t before, epoch = inode_sched_epoch(inode);
	bool had = handover_take_back(session, &before);
	if (epoch != SCHED_CURRENT || had)
		return had ? before : epoch;
	bool label = inode.kind != INODE_SAMPLE;
	inode.kind = INODE_SAMPLE;
	return label ? reader_shared(req, inode_pack(inode)) : SCHED_CURRENT;
}

static bool has_fixed_label(const struct opening *opening, uint32_t *ret)
{
	return opening->inode.kind == INODE_LABEL &&
	       sched_label(opening->job, inode_sched_epoch(opening->inode),
		       opening->inode.position, ret);
}

void opening_start(fuse_req_t req, struct session *session, struct inode inode,
	const struct fuse_file_info *fi)
{
	struct opening *opening = NULL;
	int err = opening_new(req, session, inode, fi, &opening);
	if (err) {
		reply_error(req, err);
		return;
	}
	uint32_t label, epoch = epoch_of(req, session, inode);
	if (has_fixed_label(opening, &label)) {
		handover_answers(opening->request);
		label_file_opened(
			req, session, opening->job, inode, inode.epoch, label, fi);
		opening_free(opening);
	} else {
		ask(opening, epoch);
	}
}

void opening_again(fuse_req_t req, struct session *session, struct inode inode,
	uint64_t handle, size_t size, uint64_t offset)
{
	struct fuse_file_info fi = {.fh = handle};
	struct opening *opening = NULL;
	int err = opening_new(req, session, inode, &fi, &opening);
	if (err) {
		reply_error(req, err);
		return;
	}
	opening->again = handle;
	opening->size = size;
	opening->offset = offset;
	uint32_t label;
	if (has_fixed_label(opening, &label)) {
		label_file_read_again(req, opening->job, label, size, offset);
		opening_free(opening);
	} else {
		ask(opening, handle_epoch(handle));
	}
}
