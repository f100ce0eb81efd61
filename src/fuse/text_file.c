// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/order_lines.h"
#include "files/text.h"
#include "fuse/fuse_internal.h"

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

static int snapshot_take(
	struct session *session, struct inode inode, struct snapshot *ret)
{
	*ret = (struct snapshot){.references = 1};
	FILE *out = open_memstream(&ret->text, &ret->bytes);
	if (!out)
		return -ENOMEM;
	int err = text_print(out, &session->context, inode);
	bool failed = ferror(out);
	if ((fclose(out) != 0 || failed) && !err)
		err = -ENOMEM;
	if (err)
		free(ret->text);
	return err;
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

static void order_read(fuse_req_t req, struct session *session, struct inode inode,
	size_t size, uint64_t offset)
{
	struct order_lines lines;
	auto_free char *buffer = malloc(size);
	int err = buffer ? order_lines_find(session->context.sched, inode, &lines)
			 : -ENOMEM;
	if (err) {
		reply_error(req, err);
		return;
	}
	struct order_source source = order_lines_source(inode, &lines);
	ssize_t n = order_text_read(session->orders, &source, offset, buffer, size);
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

static int open_snapshot(struct session *session, struct inode inode, uint64_t *ret_fh)
{
	struct snapshot *snapshot = malloc(sizeof(*snapshot));
	int err = snapshot ? snapshot_take(session, inode, snapshot) : -ENOMEM;
	if (err) {
		free(snapshot);
		return err;
	}
	lock_take(&session->lock);
	LIST_INSERT_HEAD(&session->open_texts, snapshot, link);
	lock_release(&session->lock);
	*ret_fh = (uintptr_t)snapshot;
	return 0;
}

void text_file_open(fuse_req_t req, struct session *session, struct inode inode,
	const struct fuse_file_info *fi)
{
	struct fuse_file_info reply = *fi;
	reply.fh = 0;
	reply.direct_io = 1;
	int err = inode.kind == INODE_EPOCH_ORDER
			  ? 0
			  : open_snapshot(session, inode, &reply.fh);
	if (err)
		reply_error(req, err);
	else if (fuse_reply_open(req, &reply) != 0)
		text_file_release(session, &reply);
}

void text_file_read(fuse_req_t req, struct session *session, struct inode inode,
	size_t size, uint64_t offset, const struct fuse_file_info *fi)
{
	struct snapshot *snapshot = (struct snapshot *)(uintptr_t)fi->fh;
	if (!snapshot) {
		order_read(req, session, inode, size, offset);
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
