// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/text_file.h"
#include "files/made_text.h"
#include "files/order_lines.h"
#include "fuse/by_worker.h"
#include "fuse/handle.h"
#include "sched/jobs.h"

#include <errno.h>

/* most chunks (order_text.h) of an epoch's order that a stat measures; more would take too long */
#define MAX_STAT_CHUNKS 2048

struct snapshot {
	struct open_file open; /* comes first, so that pointers can be cast */
	struct made_text *text;
};

static int order_size(struct session *session, struct inode inode, uint64_t *ret)
{
	struct order_lines lines;
	int err = order_lines_find(session->context.sched, inode, &lines);
	if (err)
		return err;
	struct order_source source = order_lines_source(inode, &lines);
	*ret = order_text_size(session->orders, &source, MAX_STAT_CHUNKS);
	sched_job_put(lines.job);
	return 0;
}

static void answer_order(const struct request *request)
{
	struct session *session = request->session;
	struct order_lines lines;
	auto_free char *buffer = malloc(request->size);
	int err =
		buffer ? order_lines_find(session->context.sched, request->inode, &lines)
		       : -ENOMEM;
	if (err) {
		reply_error(request->req, err);
		return;
	}
	struct order_source source = order_lines_source(request->inode, &lines);
	ssize_t n = order_text_read(
		session->orders, &source, request->offset, buffer, request->size);
	sched_job_put(lines.job);
	reply_bytes(request->req, buffer, n);
}

static void open_order(const struct request *request)
{
	struct fuse_file_info fi = {.fh = handle_new(0), .direct_io = 1};
	reply_open(request->req, &fi, 0);
}

const struct open_file_ops order_file_ops = {
	.open = open_order, .again = answer_order, .again_takes_long = true};

int text_file_size(struct session *session, struct inode inode, uint64_t *ret)
{
	struct made_text *text;
	if (inode.kind == INODE_EPOCH_ORDER)
		return order_size(session, inode, ret);
	int err = made_texts_take_file(&session->context, inode, true, &text);
	if (err)
		return err;
	*ret = text->bytes;
	made_text_put(&text);
	return 0;
}

/* Renders a text, and lists it under the handle request->fi.fh. job: the job, if the text belongs
 * to a sample; otherwise NULL. -EEXIST: another read has already listed the file. */
static int open_snapshot(
	const struct request *request, struct sched_job *job, sample_id sample)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	uint64_t handle = request->fi.fh;
	if (!snapshot)
		return -ENOMEM;
	int err = job ? made_text_of_sample(job, request->inode.kind,
				handle_epoch(handle), sample, &snapshot->text)
		      : made_texts_take_file(&request->session->context, request->inode,
				false, &snapshot->text);
	if (err) {
		free(snapshot);
		return err;
	}
	open_file_init(&snapshot->open, request, handle);
	snapshot->open.size = snapshot->text->bytes;
	err = open_file_list(&snapshot->open);
	if (err)
		open_file_drop(&snapshot->open);
	return err;
}

/* Opens the state of a job. Users save the state as a checkpoint, so the job's files are on disk
 * before the open is answered. */
static int open_synced(const struct request *request)
{
	struct session *session = request->session;
	auto_job *job = sched_job_find_id(session->context.sched, request->inode.job);
	if (!job)
		return -ENOENT;
	int err = open_snapshot(request, NULL, SAMPLE_NONE);
	bool listed = err == 0 || err == -EEXIST;
	if (listed && sched_job_sync(job) != 0) {
		(void)open_file_close(session, request->fi.fh, true);
		err = -EIO;
	}
	return err;
}

static int open_text(const struct request *request)
{
	return request->inode.kind == INODE_JOB_STATE
		       ? open_synced(request)
		       : open_snapshot(request, NULL, SAMPLE_NONE);
}

static void answer_opened(const struct request *request, int err)
{
	struct fuse_file_info reply = request->fi;
	reply.direct_io = 1;
	if (err)
		reply_error(request->req, err);
	else if (reply_open(request->req, &reply, 0) != 0)
		(void)open_file_close(request->session, reply.fh, true);
}

static void answer_open(const struct request *request)
{
	answer_opened(request, open_text(request));
}

static void start_open(const struct request *request)
{
	struct request opened = *request;
	opened.fi.fh = handle_new(0);
	/* The state of a job and the dashboard need a worker. All other texts can be opened even if
	 * all workers wait for a storage, so that a user can find the cause. */
	if (request->inode.kind == INODE_JOB_STATE ||
		request->inode.kind == INODE_DASHBOARD)
		by_worker_answer(&opened, answer_open);
	else
		answer_open(&opened);
}

void text_file_open_of_sample(const struct request *request, struct sched_job *job,
	uint32_t epoch, sample_id sample)
{
	struct request opened = *request;
	opened.fi.fh = handle_new(epoch);
	answer_opened(&opened, open_snapshot(&opened, job, sample));
}

void text_file_read(const struct request *request, struct open_file *file)
{
	const struct made_text *text = ((const struct snapshot *)file)->text;
	reply_text(request, text->text, text->bytes);
}

static void answer_again(const struct request *request)
{
	open_file_read_again(request, open_text(request));
}

void text_file_again_of_sample(
	const struct request *request, struct sched_job *job, sample_id sample)
{
	open_file_read_again(request, open_snapshot(request, job, sample));
}

void text_file_end(struct open_file *file)
{
	struct snapshot *snapshot = (struct snapshot *)file;
	made_text_put(&snapshot->text);
	free(snapshot);
}

const struct open_file_ops text_file_ops = {.open = start_open,
	.read = text_file_read,
	.again = answer_again,
	.again_takes_long = true,
	.end = text_file_end};
