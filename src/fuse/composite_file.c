// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "files/layout.h"
#include "files/layout_batch.h"
#include "files/layout_tar.h"
#include "fuse/composite_internal.h"
#include "fuse/reader.h"
#include "stats/stats.h"

#include <errno.h>

bool composite_is(enum inode_kind kind)
{
	return kind == INODE_TAR || kind == INODE_BATCH || kind == INODE_BATCH_LABELS;
}

/* --- the life of an open file ----------------------------------------------------- */

static void file_free(struct composite_file *file)
{
	lock_destroy(&file->lock);
	free(file->slots);
	free(file);
}

static int describe(struct composite_file *file)
{
	if (file->inode.kind == INODE_TAR)
		return tar_file(
			file->session->sizes, file->job, file->inode, &file->composite);
	file->composite = batch_file(file->job, file->inode);
	return 0;
}

int composite_choose_epoch(struct composite_file *file, fuse_req_t req, uint32_t index)
{
	sample_id sample;
	uint32_t epoch;
	lock_take(&file->lock);
	bool chosen = file->epoch != SCHED_CURRENT;
	lock_release(&file->lock);
	if (chosen)
		return 0;
	struct sched_reader reader = reader_of(req);
	reader.images = file->inode.kind != INODE_BATCH_LABELS;
	int err = sched_bind_for(file->job, SCHED_CURRENT, file->composite.first + index,
		&reader, &sample, &epoch);
	lock_take(&file->lock);
	if (!err && file->epoch == SCHED_CURRENT)
		file->epoch = epoch;
	lock_release(&file->lock);
	return err;
}

/*
 * In current/ a batch gets the epoch of an open file of the same batch, and so do its
 * labels: the page cache has one content for an inode, also for a reader that maps it.
 */
static void take_epoch_of_open(struct composite_file *file)
{
	const struct composite_file *other;
	LOCK_SCOPE(&file->session->lock);
	LIST_FOREACH (other, &file->session->open_composites, link)
		if (other->inode.job == file->inode.job &&
			other->inode.epoch == file->inode.epoch &&
			other->inode.position == file->inode.position)
			file->epoch = other->epoch;
}

/* The epoch of a tar is chosen by its first read. */
static int choose_at_open(struct composite_file *file, fuse_req_t req)
{
	if (file->inode.kind == INODE_TAR || file->epoch != SCHED_CURRENT)
		return 0;
	int err = composite_choose_epoch(file, req, 0);
	if (!err && session_is_mappable(file->session, file->job))
		take_epoch_of_open(file);
	return err;
}

static int prepare(struct composite_file *file)
{
	bool tar = file->inode.kind == INODE_TAR;
	int err = describe(file);
	if (err)
		return err;
	file->format = tar ? sched_job_config(file->job)->format : FORMAT_RAW;
	file->epoch = inode_sched_epoch(file->inode);
	atomic_init(&file->references, 1);
	TAILQ_INIT(&file->used);
	TAILQ_INIT(&file->waits);
	if (file->inode.kind == INODE_BATCH_LABELS)
		return 0;
	file->slots = calloc(file->composite.n, sizeof(struct slot *));
	return file->slots ? 0 : -ENOMEM;
}

/* Takes over the reference to the job, if it succeeds. */
static int file_new(fuse_req_t req, struct session *session, struct sched_job *job,
	struct inode inode, struct composite_file **ret)
{
	struct composite_file *file = calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->session = session;
	file->job = job;
	file->inode = inode;
	lock_init(&file->lock, LOCK_RANK_FUSE, "composite file");
	int err = prepare(file);
	if (!err)
		err = choose_at_open(file, req);
	if (err) {
		file_free(file);
		return err;
	}
	stats_change(STAT_OPEN_FILES, 1);
	lock_take(&session->lock);
	LIST_INSERT_HEAD(&session->open_composites, file, link);
	lock_release(&session->lock);
	*ret = file;
	return 0;
}

void composite_file_put(struct composite_file *file)
{
	if (atomic_fetch_sub(&file->references, 1) > 1)
		return;
	ensure(TAILQ_EMPTY(&file->waits));
	struct sched_job *job = file->job;
	slots_give_back(file);
	stats_change(STAT_OPEN_FILES, -1);
	file_free(file);
	sched_job_put(job);
}

void composite_file_close(struct composite_file *file, bool undo)
{
	lock_take(&file->session->lock);
	LIST_REMOVE(file, link);
	lock_release(&file->session->lock);
	lock_take(&file->lock);
	file->undo = undo;
	lock_release(&file->lock);
	slots_cancel(file);
	composite_file_put(file);
}

void composite_files_undo_all(struct session *session)
{
	struct composite_file *file;
	for (;;) {
		lock_take(&session->lock);
		file = LIST_FIRST(&session->open_composites);
		lock_release(&session->lock);
		if (!file)
			return;
		composite_file_close(file, true);
	}
}

/* --- requests --------------------------------------------------------------------- */

/* Labels need no prepared samples. */
static int bind_all(struct composite_file *file)
{
	int err = 0;
	sample_id sample;
	for (uint32_t i = 0; i < file->composite.n && !err; i++)
		err = sched_bind(
			file->job, file->epoch, file->composite.first + i, &sample);
	return err;
}

static int file_of(fuse_req_t req, struct session *session, struct inode inode,
	struct composite_file **ret)
{
	struct sched_job *job = sched_job_find_id(session->context.sched, inode.job);
	if (!job)
		return -ENOENT;
	int err = tree_in_epoch(job, inode) ? file_new(req, session, job, inode, ret)
					    : -ENOENT;
	if (err)
		sched_job_put(job);
	return err;
}

void composite_open(fuse_req_t req, struct session *session, struct inode inode,
	const struct fuse_file_info *fi)
{
	struct composite_file *file = NULL;
	struct wait wait = {.opens = true, .fi = *fi};
	int err = file_of(req, session, inode, &file);
	if (!err && inode.kind == INODE_BATCH_LABELS) {
		err = bind_all(file);
		if (err)
			composite_file_close(file, true);
	}
	if (err) {
		reply_error(req, err);
		return;
	}
	if (inode.kind == INODE_BATCH)
		wait.size = file->composite.bytes;
	wait_start(req, file, &wait);
}

void composite_read(
	fuse_req_t req, size_t size, uint64_t offset, const struct fuse_file_info *fi)
{
	struct composite_file *file = (struct composite_file *)(uintptr_t)fi->fh;
	struct wait wait = {.offset = offset, .size = size};
	uint64_t bytes = file->composite.bytes;
	if (wait.size > CONTENT_MAX_READ)
		wait.size = CONTENT_MAX_READ;
	if (offset >= bytes)
		wait.size = 0;
	else if (wait.size > bytes - offset)
		wait.size = (size_t)(bytes - offset);
	if (offset + wait.size >= bytes)
		reader_has_read(req);
	if (wait.size > 0)
		wait_start(req, file, &wait);
	else
		fuse_reply_buf(req, NULL, 0);
}

void composite_release(const struct fuse_file_info *fi)
{
	composite_file_close((struct composite_file *)(uintptr_t)fi->fh, false);
}
