// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/json.h"
#include "files/order_lines.h"
#include "files/text.h"
#include "fuse/later.h"

#include <errno.h>
#include <stdatomic.h>

/* One stat of an order measures at most so many chunks: a fraction of a second. */
#define MAX_STAT_CHUNKS 2048

struct snapshot {
	LIST_ENTRY(snapshot) link; /* (session's lock) */
	char *text;
	size_t bytes;
	atomic_uint references; /* as of a sample_file */
};

/* --- snapshots ---------------------------------------------------------------------- */

struct text_writer {
	struct snapshot *snapshot;
	FILE *out;
};

static int begin(struct snapshot *snapshot, struct text_writer *ret)
{
	*snapshot = (struct snapshot){.references = 1};
	*ret = (struct text_writer){.snapshot = snapshot};
	ret->out = open_memstream(&snapshot->text, &snapshot->bytes);
	return ret->out ? 0 : -ENOMEM;
}

static int end(struct text_writer *writer, int err)
{
	bool failed = ferror(writer->out);
	if ((fclose(writer->out) != 0 || failed) && !err)
		err = -ENOMEM;
	if (err)
		free(writer->snapshot->text);
	return err;
}

static int snapshot_take(
	struct session *session, struct inode inode, struct snapshot *ret)
{
	struct text_writer writer;
	int err = begin(ret, &writer);
	if (err)
		return err;
	return end(&writer, text_print(writer.out, &session->context, inode));
}

static int snapshot_json(struct sched_job *job, sample_id sample, struct snapshot *ret)
{
	struct text_writer writer;
	int err = begin(ret, &writer);
	if (err)
		return err;
	return end(&writer, json_print(writer.out, job, sample));
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

static void order_read(const struct later_request *request)
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
	struct snapshot snapshot;
	if (inode.kind == INODE_EPOCH_ORDER)
		return order_size(session, inode, ret);
	int err = snapshot_take(session, inode, &snapshot);
	if (err)
		return err;
	*ret = snapshot.bytes;
	free(snapshot.text);
	return 0;
}

uint64_t text_file_known_size(struct session *session, struct inode inode)
{
	return inode.kind == INODE_EPOCH_ORDER
		       ? order_text_known_size(session->orders, inode_pack(inode))
		       : 0;
}

static void snapshot_put(struct session *session, struct snapshot *snapshot)
{
	if (atomic_fetch_sub(&snapshot->references, 1) != 1)
		return;
	lock_take(&session->lock);
	LIST_REMOVE(snapshot, link);
	lock_release(&session->lock);
	free(snapshot->text);
	free(snapshot);
}

static void list_snapshot(struct session *session, struct snapshot *snapshot)
{
	LOCK_SCOPE(&session->lock);
	LIST_INSERT_HEAD(&session->open_texts, snapshot, link);
}

static int open_snapshot(struct session *session, struct inode inode, uint64_t *ret_fh)
{
	struct snapshot *snapshot = malloc(sizeof(*snapshot));
	int err = snapshot ? snapshot_take(session, inode, snapshot) : -ENOMEM;
	if (err) {
		free(snapshot);
		return err;
	}
	list_snapshot(session, snapshot);
	*ret_fh = (uintptr_t)snapshot;
	return 0;
}

static void answer_open(fuse_req_t req, struct session *session,
	const struct fuse_file_info *fi, uint64_t fh)
{
	struct fuse_file_info reply = *fi;
	reply.fh = fh;
	reply.direct_io = 1;
	if (fuse_reply_open(req, &reply) != 0)
		text_file_release(session, &reply);
}

/* What a checkpoint says is on the disk before anybody reads it. By a worker. */
static void open_state(const struct later_request *request)
{
	fuse_req_t req = request->later.req;
	struct session *session = request->later.session;
	const struct fuse_file_info fi = {.flags = O_RDONLY};
	uint64_t fh = 0;
	struct sched_job *job =
		sched_job_find_id(session->context.sched, request->inode.job);
	int err = job ? open_snapshot(session, request->inode, &fh) : -ENOENT;
	if (!err && sched_job_sync(job) != 0) {
		snapshot_put(session, (struct snapshot *)(uintptr_t)fh);
		err = -EIO;
	}
	if (job)
		sched_job_put(job);
	if (err)
		reply_error(req, err);
	else
		answer_open(req, session, &fi, fh);
}

void text_file_open(fuse_req_t req, struct session *session, struct inode inode,
	const struct fuse_file_info *fi)
{
	uint64_t fh = 0;
	if (inode.kind == INODE_JOB_STATE) {
		later_request(
			&(struct later_request){.later = {.req = req, .session = session},
				.inode = inode,
				.answer = open_state});
		return;
	}
	int err =
		inode.kind == INODE_EPOCH_ORDER ? 0 : open_snapshot(session, inode, &fh);
	if (err)
		reply_error(req, err);
	else
		answer_open(req, session, fi, fh);
}

void text_file_open_json(fuse_req_t req, struct session *session, struct sched_job *job,
	sample_id sample, const struct fuse_file_info *fi)
{
	struct snapshot *snapshot = malloc(sizeof(*snapshot));
	int err = snapshot ? snapshot_json(job, sample, snapshot) : -ENOMEM;
	if (err) {
		free(snapshot);
		reply_error(req, err);
		return;
	}
	list_snapshot(session, snapshot);
	answer_open(req, session, fi, (uintptr_t)snapshot);
}

void text_file_read(fuse_req_t req, struct session *session, struct inode inode,
	size_t size, uint64_t offset, const struct fuse_file_info *fi)
{
	struct snapshot *snapshot = (struct snapshot *)(uintptr_t)fi->fh;
	if (!snapshot) {
		later_request(
			&(struct later_request){.later = {.req = req, .session = session},
				.inode = inode,
				.size = size,
				.offset = offset,
				.answer = order_read});
		return;
	}
	if (offset > snapshot->bytes)
		offset = snapshot->bytes;
	if (size > snapshot->bytes - offset)
		size = snapshot->bytes - (size_t)offset;
	atomic_fetch_add(&snapshot->references, 1);
	fuse_reply_buf(req, snapshot->text + offset, size);
	snapshot_put(session, snapshot);
}

void text_file_release(struct session *session, const struct fuse_file_info *fi)
{
	struct snapshot *snapshot = (struct snapshot *)(uintptr_t)fi->fh;
	if (snapshot)
		snapshot_put(session, snapshot);
}

void text_files_close_all(struct session *session)
{
	struct snapshot *snapshot;
	for (;;) {
		lock_take(&session->lock);
		snapshot = LIST_FIRST(&session->open_texts);
		lock_release(&session->lock);
		if (!snapshot)
			return;
		snapshot_put(session, snapshot);
	}
}
