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

/* Returns the file's number in the list of open files. A batch and its labels have the same number,
 * so that they share an epoch. */
static uint64_t number_of(struct inode inode)
{
	if (inode.kind == INODE_BATCH_LABELS)
		inode.kind = INODE_BATCH;
	return inode_pack(inode);
}

/* Finds an open file of the same batch, or of its labels, whose epoch is known. */
static struct composite_file *find_other_locked(const struct composite_file *file)
{
	lock_assert_held(&file->open.session->lock);
	struct open_file *open =
		open_files_of(&file->open.session->open_files, file->open.number);
	while (open && file_of_open(open)->known_epoch == SCHED_CURRENT)
		open = LIST_NEXT(open, link);
	return open ? file_of_open(open) : NULL;
}

/* Chooses the file's epoch by the rules of composite_choose_epoch, and notes it in
 * file->known_epoch. Returns SCHED_CURRENT if the file has to wait until other readers have closed
 * the batch. */
static uint32_t share_epoch(struct wait *wait, uint32_t epoch)
{
	struct composite_file *file = wait->file;
	struct session *session = file->open.session;
	bool shares =
		file->inode.kind != INODE_TAR && session_is_mappable(session, file->job);
	LOCK_SCOPE(&session->lock);
	const struct composite_file *other = shares ? find_other_locked(file) : NULL;
	if (other && other->known_epoch != epoch) {
		if (await_close_locked(&wait->waiter, &other->open))
			return SCHED_CURRENT;
		epoch = other->known_epoch;
	}
	file->known_epoch = epoch;
	return epoch;
}

uint32_t composite_epoch(struct composite_file *file)
{
	LOCK_SCOPE(&file->lock);
	return file->epoch;
}

static uint32_t set_epoch(struct composite_file *file, uint32_t epoch)
{
	LOCK_SCOPE(&file->lock);
	if (file->epoch == SCHED_CURRENT)
		file->epoch = epoch;
	if (file->open.kept)
		file->open.kept->epoch = file->epoch;
	return file->epoch;
}

uint32_t composite_choose_epoch(struct wait *wait, uint32_t epoch)
{
	uint32_t found = share_epoch(wait, epoch);
	if (found == SCHED_CURRENT)
		return found;
	if (found != epoch)
		reader_shares(wait->req, wait->file->open.number, found);
	return set_epoch(wait->file, found);
}

/* Sets the epoch of a labels file in current/ to the epoch that reader_shares noted for the batch
 * of these labels. Does nothing if there is no note. */
static void follow(struct composite_file *file, fuse_req_t req)
{
	if (file->inode.kind != INODE_BATCH_LABELS || file->epoch != SCHED_CURRENT)
		return;
	uint32_t epoch = reader_shared(req, file->open.number);
	if (epoch == SCHED_CURRENT)
		return;
	lock_take(&file->open.session->lock);
	file->known_epoch = epoch;
	lock_release(&file->open.session->lock);
	(void)set_epoch(file, epoch);
}

uint64_t composite_file_handle(struct composite_file *file)
{
	uint32_t epoch = composite_epoch(file);
	bool found = epoch != SCHED_CURRENT;
	file->open.handle = handle_of(found ? epoch : INODE_CURRENT, file->open.serial);
	if (!found)
		file->open.kept = handover_add(
			file->open.session, file->open.handle, file->open.number, 0);
	return file->open.handle;
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
	int err = describe(
		file->open.session, file->job, file->inode, epoch, &file->composite);
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

/* Returns the epoch that an earlier engine chose for an open file; SCHED_CURRENT: it chose none.
 * The epoch is in the handle or, for a file that was opened without an epoch, in the file's entry
 * in the list of handover.h. *ret_kept: this entry; NULL: the epoch is in the handle, or there is
 * no entry. */
static uint32_t epoch_of_handle(
	struct session *session, uint64_t handle, struct kept_open **ret_kept)
{
	uint32_t epoch = handle_epoch(handle);
	*ret_kept = epoch == INODE_CURRENT ? handover_find(session, handle) : NULL;
	if (*ret_kept)
		epoch = (*ret_kept)->epoch;
	return epoch == INODE_CURRENT ? SCHED_CURRENT : epoch;
}

/* Returns the epoch whose samples decide the file's size. In current/, before an epoch is chosen,
 * this is the epoch that the reader would get now. */
static uint32_t epoch_for(const struct composite_file *file, fuse_req_t req)
{
	const struct job_config *config = sched_job_config(file->job);
	struct inode inode = file->inode;
	struct sched_reader reader = reader_peek(req);
	reader.images = inode.kind != INODE_BATCH_LABELS;
	if (file->epoch != SCHED_CURRENT)
		return file->epoch;
	return sched_current(
		file->job, &reader, inode.position * config_file_samples(config));
}

/* Takes over the reference to the job on success. request->fi.fh: the handle, if an earlier engine
 * opened the file; otherwise 0. */
static int file_new(
	const struct request *request, struct sched_job *job, struct composite_file **ret)
{
	uint64_t handle = request->fi.fh;
	struct composite_file *file = calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	open_file_init(&file->open, request, handle ? handle : kept_serial());
	file->open.number = number_of(request->inode);
	file->job = job;
	file->inode = request->inode;
	file->again = handle != 0;
	file->epoch = inode_sched_epoch(file->inode);
	if (handle)
		file->epoch = epoch_of_handle(request->session, handle, &file->open.kept);
	lock_init(&file->lock, LOCK_RANK_FUSE, "composite file");
	int err = prepare(file, epoch_for(file, request->req));
	if (!err)
		err = open_file_list(&file->open);
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

static void end(struct open_file *open)
{
	struct composite_file *file = file_of_open(open);
	ensure(TAILQ_EMPTY(&file->waits));
	struct sched_job *job = file->job;
	slots_give_back(file);
	if (file->again && !open->undo)
		consume_all(job, &file->composite, file->inode, file->epoch);
	stats_change(STAT_OPEN_FILES, -1);
	file_free(file);
	sched_job_put(job);
}

static void cancel(struct open_file *open)
{
	slots_cancel(file_of_open(open));
}

static int open_file(const struct request *request, struct composite_file **ret)
{
	struct inode inode = request->inode;
	struct sched_job *job =
		sched_job_find_id(request->session->context.sched, inode.job);
	if (!job)
		return -ENOENT;
	int err = tree_check(job, inode);
	if (!err)
		err = file_new(request, job, ret);
	if (err)
		sched_job_put(job);
	return err;
}

static void start_open(const struct request *request)
{
	struct composite_file *file = NULL;
	struct wait wait = {.opens = true, .fi = request->fi};
	uint32_t before;
	/* The kernel sends an open again only if the reader has not got the file yet. So the entry
	 * that the earlier engine made is dropped, and the epoch is chosen anew. */
	(void)open_file_take_back(request->session, &before);
	int err = open_file(request, &file);
	if (err) {
		reply_error(request->req, err);
		return;
	}
	if (file->inode.kind != INODE_TAR) {
		wait.size = file->composite.bytes;
		follow(file, request->req);
	}
	wait_start(request->req, file, &wait);
}

static void read_again(const struct request *request)
{
	struct composite_file *file;
	open_file_read_again(request, open_file(request, &file));
}

static void read_file(const struct request *request, struct open_file *open)
{
	struct composite_file *file = file_of_open(open);
	struct wait wait = {.offset = request->offset, .size = request->size};
	uint64_t bytes = file->composite.bytes;
	if (wait.size > CONTENT_MAX_READ)
		wait.size = CONTENT_MAX_READ;
	if (wait.offset >= bytes)
		wait.size = 0;
	else if (wait.size > bytes - wait.offset)
		wait.size = (size_t)(bytes - wait.offset);
	if (wait.offset + wait.size >= bytes)
		reader_has_read(request->req);
	if (wait.size > 0)
		wait_start(request->req, file, &wait);
	else
		reply_bytes(request->req, NULL, 0);
}

static void consume(const struct request *request)
{
	struct session *session = request->session;
	struct inode inode = request->inode;
	struct kept_open *kept;
	auto_job *job = sched_job_find_id(session->context.sched, inode.job);
	struct composite composite = {0};
	uint32_t epoch = epoch_of_handle(session, request->fi.fh, &kept);
	kept_open_remove(kept);
	if (job && describe(session, job, inode, epoch, &composite) == 0)
		consume_all(job, &composite, inode, epoch);
}

const struct open_file_ops composite_file_ops = {.open = start_open,
	.read = read_file,
	.again = read_again,
	.consume = consume,
	.cancel = cancel,
	.end = end};
