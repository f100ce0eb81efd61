// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "files/layout.h"
#include "files/layout_batch.h"
#include "files/layout_tar.h"
#include "fuse/composite/composite_internal.h"
#include "fuse/handle.h"
#include "fuse/handover.h"
#include "fuse/reader.h"
#include "sched/jobs.h"
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

static int describe(struct session *session, struct sched_job *job, struct inode inode,
	uint32_t epoch, struct composite *ret)
{
	auto_edition *edition = sched_edition(job, epoch);
	if (inode.kind == INODE_TAR)
		return tar_file(session->sizes, job, edition, inode, ret);
	*ret = batch_file(job, edition, inode);
	return 0;
}

static struct composite_file *file_of_open(struct open_file *open)
{
	return (struct composite_file *)open;
}

/* Returns the number that the file is listed by: a batch and its labels have the same one. */
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

/* Finds an open file of the same batch, or of its labels, whose epoch is known. */
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
 * Returns the epoch that the file has to share: in current/ a batch and its labels have the
 * epoch of an open file of the same batch, unless this is closed soon: await_close.h.
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
	if (file->kept)
		file->kept->epoch = file->epoch;
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

/* Gives labels in current/ the epoch that their reader had to share for the batch. */
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

/* Lists the file. -EEXIST: another read has opened it again. */
static int list_file(struct composite_file *file, uint64_t serial)
{
	LOCK_SCOPE(&file->session->lock);
	if (open_files_find(&file->session->open_composites, serial))
		return -EEXIST;
	return open_files_add(
		&file->session->open_composites, key_of(file), serial, &file->open);
}

uint64_t composite_file_handle(struct composite_file *file)
{
	lock_take(&file->lock);
	bool found = file->epoch != SCHED_CURRENT;
	uint32_t epoch = found ? file->epoch : INODE_CURRENT;
	lock_release(&file->lock);
	uint64_t handle = handle_of(epoch, file->open.handle);
	if (!found)
		file->kept = handover_add(
			file->session, handle, inode_pack(file->inode), epoch, 0);
	return handle;
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

static int prepare(struct composite_file *file, uint32_t epoch)
{
	bool tar = file->inode.kind == INODE_TAR;
	int err =
		describe(file->session, file->job, file->inode, epoch, &file->composite);
	if (!err && file->composite.n == 0)
		err = -ENOENT;
	if (!err && file->inode.kind != INODE_BATCH)
		err = make_samples(file);
	if (err)
		return err;
	file->format = tar ? sched_job_config(file->job)->format : FORMAT_RAW;
	file->known_epoch = file->epoch;
	TAILQ_INIT(&file->used);
	TAILQ_INIT(&file->waits);
	if (file->inode.kind == INODE_BATCH_LABELS)
		return 0;
	file->slots = calloc(file->composite.n, sizeof(struct slot *));
	return file->slots ? 0 : -ENOMEM;
}

/* Returns the epoch that the file's first engine has found; SCHED_CURRENT: none yet. */
static uint32_t epoch_of_handle(
	struct session *session, uint64_t handle, struct kept_open **ret_kept)
{
	uint32_t epoch = handle_epoch(handle);
	*ret_kept = epoch == INODE_CURRENT ? handover_find(session, handle) : NULL;
	if (*ret_kept)
		epoch = (*ret_kept)->epoch;
	return epoch == INODE_CURRENT ? SCHED_CURRENT : epoch;
}

static void find_again(struct composite_file *file, uint64_t handle)
{
	file->epoch = epoch_of_handle(file->session, handle, &file->kept);
}

/* Returns the epoch of the file's samples; in current/ as far as that is known. */
static uint32_t epoch_for(const struct composite_file *file, fuse_req_t req)
{
	const struct job_config *config = sched_job_config(file->job);
	struct inode inode = file->inode;
	struct sched_reader reader = reader_peek(req);
	reader.images = inode.kind != INODE_BATCH_LABELS;
	if (file->epoch != SCHED_CURRENT)
		return file->epoch;
	return sched_current(
		file->job, &reader, inode.position * layout_file_samples(config));
}

/* Opens a file. Takes over the reference to the job, if it succeeds. handle: of a file that
 * another engine has opened, else 0. */
static int file_new(struct session *session, struct sched_job *job, struct inode inode,
	fuse_req_t req, uint64_t handle, struct composite_file **ret)
{
	uint64_t serial = handle ? handle & HANDLE_SERIAL : kept_serial();
	struct composite_file *file = calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->session = session;
	file->job = job;
	file->inode = inode;
	file->again = handle != 0;
	file->epoch = inode_sched_epoch(inode);
	if (handle)
		find_again(file, handle);
	atomic_init(&file->references, 1);
	lock_init(&file->lock, LOCK_RANK_FUSE, "composite file");
	int err = prepare(file, epoch_for(file, req));
	if (!err)
		err = list_file(file, serial);
	if (err) {
		file_free(file);
		return err;
	}
	stats_change(STAT_OPEN_FILES, 1);
	*ret = file;
	return 0;
}

static void consume_all(struct sched_job *job, const struct composite *composite,
	struct inode inode, uint32_t epoch)
{
	if (inode.kind != INODE_BATCH_LABELS && epoch != SCHED_CURRENT)
		sched_consume(job, epoch, composite->first, composite->n);
}

void composite_file_put(struct composite_file *file)
{
	if (atomic_fetch_sub(&file->references, 1) > 1)
		return;
	ensure(TAILQ_EMPTY(&file->waits));
	struct sched_job *job = file->job;
	slots_give_back(file);
	if (file->again && !file->undo)
		consume_all(job, &file->composite, file->inode, file->epoch);
	stats_change(STAT_OPEN_FILES, -1);
	file_free(file);
	sched_job_put(job);
}

static void close_unlisted(struct composite_file *file, bool undo)
{
	await_close_tell(file->session, key_of(file));
	lock_take(&file->lock);
	file->undo = undo;
	lock_release(&file->lock);
	kept_open_remove(file->kept);
	slots_cancel(file);
	composite_file_put(file);
}

void composite_file_close(struct composite_file *file, bool undo)
{
	lock_take(&file->session->lock);
	open_files_remove(&file->session->open_composites, &file->open);
	lock_release(&file->session->lock);
	close_unlisted(file, undo);
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

static int file_of(struct session *session, struct inode inode, fuse_req_t req,
	uint64_t handle, struct composite_file **ret)
{
	struct sched_job *job = sched_job_find_id(session->context.sched, inode.job);
	if (!job)
		return -ENOENT;
	int err = tree_check(job, inode);
	if (!err)
		err = file_new(session, job, inode, req, handle, ret);
	if (err)
		sched_job_put(job);
	return err;
}

void composite_open(fuse_req_t req, struct session *session, struct inode inode,
	const struct fuse_file_info *fi)
{
	struct composite_file *file = NULL;
	struct wait wait = {.opens = true, .fi = *fi};
	uint32_t before;
	(void)handover_take_back(session, &before); /* nobody has read it */
	int err = file_of(session, inode, req, 0, &file);
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

/* Finds an open file, with a reference for the caller; NULL: it is not open here. */
static struct composite_file *find(struct session *session, uint64_t handle)
{
	LOCK_SCOPE(&session->lock);
	struct open_file *open =
		open_files_find(&session->open_composites, handle & HANDLE_SERIAL);
	if (!open)
		return NULL;
	atomic_fetch_add(&file_of_open(open)->references, 1);
	return file_of_open(open);
}

static int find_or_open(struct session *session, struct inode inode, fuse_req_t req,
	uint64_t handle, struct composite_file **ret)
{
	*ret = find(session, handle);
	if (*ret)
		return 0;
	int err = file_of(session, inode, req, handle, ret);
	if (err && err != -EEXIST)
		return err;
	*ret = find(session, handle);
	return *ret ? 0 : -EIO;
}

static void read_file(
	fuse_req_t req, struct composite_file *file, size_t size, uint64_t offset)
{
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

void composite_read(fuse_req_t req, struct session *session, struct inode inode,
	uint64_t handle, size_t size, uint64_t offset)
{
	struct composite_file *file;
	int err = find_or_open(session, inode, req, handle, &file);
	if (err) {
		reply_error(req, err);
		return;
	}
	read_file(req, file, size, offset);
	composite_file_put(file);
}

/* Consumes the positions of a file that another engine has opened, and does not open it again. */
static void consume_unopened(struct session *session, struct inode inode, uint64_t handle)
{
	struct kept_open *kept;
	struct sched_job *job = sched_job_find_id(session->context.sched, inode.job);
	struct composite composite = {0};
	uint32_t epoch = epoch_of_handle(session, handle, &kept);
	kept_open_remove(kept);
	if (!job)
		return;
	int err = describe(session, job, inode, epoch, &composite);
	if (!err)
		consume_all(job, &composite, inode, epoch);
	sched_job_put(job);
}

void composite_release(struct session *session, struct inode inode, uint64_t handle)
{
	lock_take(&session->lock);
	struct open_file *open =
		open_files_find(&session->open_composites, handle & HANDLE_SERIAL);
	if (open)
		open_files_remove(&session->open_composites, open);
	lock_release(&session->lock);
	if (open)
		close_unlisted(file_of_open(open), false);
	else
		consume_unopened(session, inode, handle);
}
