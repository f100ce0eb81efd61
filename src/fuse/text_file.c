// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/beside.h"
#include "files/json.h"
#include "files/made_text.h"
#include "files/order_lines.h"
#include "fuse/handle.h"
#include "fuse/by_worker.h"
#include "sched/jobs.h"

#include <errno.h>
#include <stdatomic.h>

/* Most chunks that one stat of an order measures: a fraction of a second. */
#define MAX_STAT_CHUNKS 2048

struct snapshot {
	struct open_file open; /* (session's lock) the first member */
	struct made_text *text;
	atomic_uint references; /* one each of the reader and each read */
};

/* --- snapshots ---------------------------------------------------------------------- */

static int print_of_sample(struct sched_job *job, enum inode_kind kind, uint32_t epoch,
	sample_id sample, struct made_text **ret)
{
	int err = made_text_begin(ret);
	if (err)
		return err;
	if (kind == INODE_JSON)
		err = json_print((*ret)->out, job, epoch, sample);
	else
		err = beside_print((*ret)->out, job, epoch, sample, kind - INODE_BESIDE);
	return made_text_end(ret, err);
}

/* --- epoch-NNNN.order, read live ---------------------------------------------------- */

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

static void order_read(const struct by_worker_request *request)
{
	fuse_req_t req = request->later.req;
	struct session *session = request->later.session;
	struct order_lines lines;
	auto_free char *buffer = malloc(request->size);
	int err =
		buffer ? order_lines_find(session->context.sched, request->inode, &lines)
		       : -ENOMEM;
	if (err) {
		reply_error(req, err);
		return;
	}
	struct order_source source = order_lines_source(request->inode, &lines);
	ssize_t n = order_text_read(
		session->orders, &source, request->offset, buffer, request->size);
	sched_job_put(lines.job);
	if (n < 0)
		reply_error(req, (int)n);
	else
		fuse_reply_buf(req, buffer, (size_t)n);
}

/* --- for ops and tree --------------------------------------------------------------- */

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

uint64_t text_file_known_size(struct session *session, struct inode inode)
{
	return inode.kind == INODE_EPOCH_ORDER
		       ? order_text_known_size(session->orders, inode_pack(inode))
		       : 0;
}

static void snapshot_put(struct snapshot *snapshot)
{
	if (atomic_fetch_sub(&snapshot->references, 1) != 1)
		return;
	made_text_put(&snapshot->text);
	free(snapshot);
}

/* Lists a snapshot. -EEXIST: another read of the file has listed one under the handle. */
static int list_snapshot(struct session *session, struct inode inode, uint64_t handle,
	struct snapshot *snapshot)
{
	LOCK_SCOPE(&session->lock);
	if (open_files_find(&session->open_texts, handle))
		return -EEXIST;
	return open_files_add(
		&session->open_texts, inode_pack(inode), handle, &snapshot->open);
}

/* Makes a snapshot and lists it. job: a sample's; NULL for other texts. */
static int open_snapshot(struct session *session, struct inode inode,
	struct sched_job *job, sample_id sample, uint64_t handle)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	int err = -ENOMEM;
	if (snapshot)
		err = job ? print_of_sample(job, inode.kind, handle_epoch(handle), sample,
				    &snapshot->text)
			  : made_texts_take_file(
				    &session->context, inode, false, &snapshot->text);
	if (err) {
		free(snapshot);
		return err;
	}
	snapshot->references = 1;
	err = list_snapshot(session, inode, handle, snapshot);
	if (err)
		snapshot_put(snapshot);
	return err == -EEXIST ? 0 : err;
}

static void answer_open(fuse_req_t req, struct session *session,
	const struct fuse_file_info *fi, uint64_t handle)
{
	struct fuse_file_info reply = *fi;
	reply.fh = handle;
	reply.direct_io = 1;
	if (fuse_reply_open(req, &reply) != 0)
		text_file_release(session, handle);
}

/* Makes a snapshot of a checkpoint. Everything that it tells is on the disk before anybody
 * reads it. */
static int open_synced(const struct by_worker_request *request)
{
	struct session *session = request->later.session;
	struct sched_job *job =
		sched_job_find_id(session->context.sched, request->inode.job);
	if (!job)
		return -ENOENT;
	int err = open_snapshot(
		session, request->inode, NULL, SAMPLE_NONE, request->handle);
	if (!err && sched_job_sync(job) != 0) {
		text_file_release(session, request->handle);
		err = -EIO;
	}
	sched_job_put(job);
	return err;
}

static int open_later(const struct by_worker_request *request)
{
	if (request->inode.kind == INODE_JOB_STATE)
		return open_synced(request);
	return open_snapshot(request->later.session, request->inode, NULL, SAMPLE_NONE,
		request->handle);
}

static void answer_open_later(const struct by_worker_request *request)
{
	fuse_req_t req = request->later.req;
	const struct fuse_file_info fi = {.flags = O_RDONLY};
	int err = open_later(request);
	if (err)
		reply_error(req, err);
	else
		answer_open(req, request->later.session, &fi, request->handle);
}

void text_file_open(fuse_req_t req, struct session *session, struct inode inode,
	const struct fuse_file_info *fi)
{
	const struct by_worker_request request = {
		.later = {.req = req, .session = session},
		.inode = inode,
		.handle = handle_new(0),
		.answer = answer_open_later};
	/* All workers may wait for a storage: then the other texts, which need none, tell about
	 * it. */
	bool later = inode.kind == INODE_JOB_STATE || inode.kind == INODE_DASHBOARD;
	if (inode.kind == INODE_EPOCH_ORDER)
		answer_open(req, session, fi, request.handle);
	else if (later)
		by_worker_request(&request);
	else
		answer_open_later(&request);
}

void text_file_open_of_sample(fuse_req_t req, struct session *session,
	struct sched_job *job, struct inode inode, uint32_t epoch, sample_id sample,
	const struct fuse_file_info *fi)
{
	uint64_t handle = handle_new(epoch);
	int err = open_snapshot(session, inode, job, sample, handle);
	if (err)
		reply_error(req, err);
	else
		answer_open(req, session, fi, handle);
}

int text_file_again_of_sample(struct session *session, struct sched_job *job,
	struct inode inode, sample_id sample, uint64_t handle)
{
	return open_snapshot(session, inode, job, sample, handle);
}

bool text_file_open_size(struct session *session, struct inode inode, uint64_t *ret)
{
	LOCK_SCOPE(&session->lock);
	const struct open_file *open =
		open_files_of(&session->open_texts, inode_pack(inode));
	if (open)
		*ret = ((const struct snapshot *)open)->text->bytes;
	return open;
}

/* Finds a snapshot, with a reference for the caller; NULL: there is none. */
static struct snapshot *find(struct session *session, uint64_t handle)
{
	LOCK_SCOPE(&session->lock);
	struct open_file *open = open_files_find(&session->open_texts, handle);
	struct snapshot *snapshot = (struct snapshot *)open;
	if (snapshot)
		atomic_fetch_add(&snapshot->references, 1);
	return snapshot;
}

static void answer_read(
	fuse_req_t req, struct snapshot *snapshot, size_t size, uint64_t offset)
{
	const struct made_text *text = snapshot->text;
	if (offset > text->bytes)
		offset = text->bytes;
	if (size > text->bytes - offset)
		size = text->bytes - (size_t)offset;
	fuse_reply_buf(req, text->text + offset, size);
	snapshot_put(snapshot);
}

/* Answers a read of a file that another engine has opened: the reader gets the present text. */
static void read_again(const struct by_worker_request *request)
{
	int err = open_later(request);
	struct snapshot *snapshot =
		err ? NULL : find(request->later.session, request->handle);
	if (snapshot)
		answer_read(request->later.req, snapshot, request->size, request->offset);
	else
		reply_error(request->later.req, err ? err : -EIO);
}

bool text_file_read(fuse_req_t req, struct session *session, struct inode inode,
	uint64_t handle, size_t size, uint64_t offset)
{
	bool order = inode.kind == INODE_EPOCH_ORDER;
	const struct by_worker_request request = {
		.later = {.req = req, .session = session},
		.inode = inode,
		.handle = handle,
		.size = size,
		.offset = offset,
		.answer = order ? order_read : read_again};
	struct snapshot *snapshot = order ? NULL : find(session, handle);
	if (!snapshot && inode_is_text_of_sample(inode.kind))
		return false;
	if (snapshot)
		answer_read(req, snapshot, size, offset);
	else
		by_worker_request(&request);
	return true;
}

static struct snapshot *take_out(struct session *session, uint64_t handle)
{
	LOCK_SCOPE(&session->lock);
	struct open_file *open = open_files_find(&session->open_texts, handle);
	if (open)
		open_files_remove(&session->open_texts, open);
	return (struct snapshot *)open;
}

void text_file_release(struct session *session, uint64_t handle)
{
	struct snapshot *snapshot = take_out(session, handle);
	if (snapshot)
		snapshot_put(snapshot);
}

void text_files_close_all(struct session *session)
{
	struct open_file *open;
	for (;;) {
		lock_take(&session->lock);
		open = open_files_any(&session->open_texts);
		lock_release(&session->lock);
		if (!open)
			return;
		text_file_release(session, open->handle);
	}
}
