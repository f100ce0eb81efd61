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
	free(file->samples);
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

static struct composite_file *file_of_open(struct open_file *open)
{
	return (struct composite_file *)open;
}

/* The same of a batch and its labels. */
static uint64_t key_of(const struct composite_file *file)
{
	struct inode inode = file->inode;
	if (inode.kind == INODE_BATCH_LABELS)
		inode.kind = INODE_BATCH;
	return inode_pack(inode);
}

static bool may_share(const struct composite_file *file)
{
	return file->inode.kind != INODE_TAR &&
	       session_is_mappable(file->session, file->job);
}

/* An open file of the same batch, or its labels, whose epoch is known. */
static struct composite_file *find_other_locked(const struct composite_file *file)
{
	lock_assert_held(&file->session->lock);
	struct open_file *open =
		open_files_of(&file->session->open_composites, key_of(file));
	while (open && file_of_open(open)->known_epoch == SCHED_CURRENT)
		open = LIST_NEXT(open, link);
	return open ? file_of_open(open) : NULL;
}

/*
 * In current/ the epoch of a batch is that of an open file of the same batch, and so is
 * that of its labels, unless the others close it: await_close.h.
 */
static uint32_t share_epoch(struct wait *wait, uint32_t epoch)
{
	struct composite_file *file = wait->file;
	struct session *session = file->session;
	bool shares = may_share(file);
	LOCK_SCOPE(&session->lock);
	const struct composite_file *other = shares ? find_other_locked(file) : NULL;
	if (other && other->known_epoch != epoch) {
		if (await_close_locked(
			    session, &wait->waiter, &other->open, key_of(file)))
			return SCHED_CURRENT;
		epoch = other->known_epoch;
	}
	file->known_epoch = epoch;
	return epoch;
}

static uint32_t set_epoch(struct composite_file *file, uint32_t epoch)
{
	LOCK_SCOPE(&file->lock);
	if (file->epoch == SCHED_CURRENT)
		file->epoch = epoch;
	return file->epoch;
}

uint32_t composite_choose_epoch(struct wait *wait, uint32_t epoch)
{
	uint32_t found = share_epoch(wait, epoch);
	if (found == SCHED_CURRENT)
		return found;
	if (found != epoch)
		reader_shares(wait->req, key_of(wait->file), found);
	return set_epoch(wait->file, found);
}

/* Labels belong to what their reader had to share. */
static void follow(struct composite_file *file, fuse_req_t req)
{
	if (file->inode.kind != INODE_BATCH_LABELS || file->epoch != SCHED_CURRENT)
		return;
	uint32_t epoch = reader_shared(req, key_of(file));
	if (epoch == SCHED_CURRENT)
		return;
	lock_take(&file->session->lock);
	file->known_epoch = epoch;
	lock_release(&file->session->lock);
	(void)set_epoch(file, epoch);
}

static int list_file(struct composite_file *file)
{
	LOCK_SCOPE(&file->session->lock);
	return open_files_add(&file->session->open_composites, key_of(file), &file->open);
}

static int make_samples(struct composite_file *file)
{
	uint32_t n = file->composite.n;
	file->samples = calloc(n, sizeof(*file->samples));
	if (!file->samples)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		file->samples[i] = SAMPLE_NONE;
	return 0;
}

static int prepare(struct composite_file *file)
{
	bool tar = file->inode.kind == INODE_TAR;
	int err = describe(file);
	if (!err && file->inode.kind != INODE_BATCH)
		err = make_samples(file);
	if (err)
		return err;
	file->format = tar ? sched_job_config(file->job)->format : FORMAT_RAW;
	file->epoch = inode_sched_epoch(file->inode);
	atomic_init(&file->references, 1);
	file->known_epoch = file->epoch;
	TAILQ_INIT(&file->used);
	TAILQ_INIT(&file->waits);
	if (file->inode.kind == INODE_BATCH_LABELS)
		return 0;
	file->slots = calloc(file->composite.n, sizeof(struct slot *));
	return file->slots ? 0 : -ENOMEM;
}

/* Takes over the reference to the job, if it succeeds. */
static int file_new(struct session *session, struct sched_job *job, struct inode inode,
	struct composite_file **ret)
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
		err = list_file(file);
	if (err) {
		file_free(file);
		return err;
	}
	stats_change(STAT_OPEN_FILES, 1);
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
	open_files_remove(&file->session->open_composites, &file->open);
	lock_release(&file->session->lock);
	await_close_tell(file->session, key_of(file));
	lock_take(&file->lock);
	file->undo = undo;
	lock_release(&file->lock);
	slots_cancel(file);
	composite_file_put(file);
}

void composite_files_undo_all(struct session *session)
{
	struct open_file *open;
	for (;;) {
		lock_take(&session->lock);
		open = open_files_any(&session->open_composites);
		lock_release(&session->lock);
		if (!open)
			return;
		composite_file_close(file_of_open(open), true);
	}
}

/* --- requests --------------------------------------------------------------------- */

static int file_of(
	struct session *session, struct inode inode, struct composite_file **ret)
{
	struct sched_job *job = sched_job_find_id(session->context.sched, inode.job);
	if (!job)
		return -ENOENT;
	int err =
		tree_in_epoch(job, inode) ? file_new(session, job, inode, ret) : -ENOENT;
	if (err)
		sched_job_put(job);
	return err;
}

void composite_open(fuse_req_t req, struct session *session, struct inode inode,
	const struct fuse_file_info *fi)
{
	struct composite_file *file = NULL;
	struct wait wait = {.opens = true, .fi = *fi};
	int err = file_of(session, inode, &file);
	if (err) {
		reply_error(req, err);
		return;
	}
	if (inode.kind != INODE_TAR) {
		wait.size = file->composite.bytes;
		follow(file, req);
	}
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
