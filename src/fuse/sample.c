// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/sample.h"
#include "base/fault.h"
#include "files/sample_bytes.h"
#include "files/sample_content.h"
#include "fuse/passthrough.h"
#include "stats/stats.h"

#include <errno.h>
#include <stdatomic.h>

struct sample_file {
	LIST_ENTRY(sample_file) link; /* (view's lock) */
	/* The reader's, and one of each read: the kernel may release the file when it has
	 * the bytes of an answer, which is before the call that sends them returns. */
	atomic_uint references;
	struct sched_handle *handle;
	uint64_t inode;
	int backing; /* what the kernel reads it from; 0: it asks us */
	struct sample_content content;
};

static int make_content(struct sample_file *file, struct view *view,
	struct sched_job *job, struct inode inode)
{
	struct sample_place place = {.epoch = sched_handle_epoch(file->handle),
		.position = inode.position,
		.format = sched_job_config(job)->format,
		.size = sample_size_of(
			view->sizes, job, sched_handle_sample(file->handle))};
	return sample_content_make(
		&view->context, job, &place, file->handle, &file->content);
}

uint32_t sample_epoch(struct view *view, const struct sched_job *job, struct inode inode)
{
	const struct sample_file *file;
	uint64_t number = inode_pack(inode);
	if (inode.epoch != INODE_CURRENT || !view_is_mappable(view, job) ||
		fault_hit("sample.late"))
		return inode_sched_epoch(inode);
	LOCK_SCOPE(&view->lock);
	LIST_FOREACH (file, &view->open_samples, link)
		if (file->inode == number)
			return sched_handle_epoch(file->handle);
	return SCHED_CURRENT;
}

static void sample_file_free(struct sample_file *file)
{
	if (!file)
		return;
	sample_content_free(&file->content);
	free(file);
}

/* One that is open and has another file behind it; NULL: none. */
static const struct sample_file *find_other_locked(
	const struct view *view, const struct sample_file *file)
{
	const struct sample_file *other;
	LIST_FOREACH (other, &view->open_samples, link)
		if (other->inode == file->inode && other->backing != file->backing)
			return other;
	return NULL;
}

/* -EAGAIN: the kernel would fail the open. */
static int list_file(struct view *view, struct sample_file *file, uint32_t *ret_epoch)
{
	LOCK_SCOPE(&view->lock);
	const struct sample_file *other =
		view->passes_through ? find_other_locked(view, file) : NULL;
	if (other) {
		*ret_epoch = sched_handle_epoch(other->handle);
		return -EAGAIN;
	}
	LIST_INSERT_HEAD(&view->open_samples, file, link);
	return 0;
}

int sample_file_backing(const struct sample_file *file)
{
	return file->backing;
}

int sample_file_new(struct view *view, struct sched_job *job, struct inode inode,
	struct sched_handle *handle, struct sample_file **ret, uint32_t *ret_epoch)
{
	struct sample_file *file = calloc(1, sizeof(*file));
	int err = -ENOMEM;
	if (!file)
		goto fail;
	file->handle = handle;
	file->inode = inode_pack(inode);
	atomic_init(&file->references, 1);
	err = make_content(file, view, job, inode);
	if (err)
		goto fail;
	file->backing = passthrough_of(view, job, &file->content);
	err = list_file(view, file, ret_epoch);
	if (err)
		goto fail;
	stats_change(STAT_OPEN_FILES, 1);
	*ret = file;
	return 0;
fail:
	sample_file_free(file);
	/* A bad sample is consumed like a good one, so that its epoch can end. */
	if (err == -EIO)
		sched_release(handle);
	else
		sched_undo(handle);
	return err;
}

static struct sched_handle *take_apart(struct view *view, struct sample_file *file)
{
	struct sched_handle *handle = file->handle;
	lock_take(&view->lock);
	LIST_REMOVE(file, link);
	lock_release(&view->lock);
	stats_change(STAT_OPEN_FILES, -1);
	sample_file_free(file);
	return handle;
}

void sample_file_undo(struct view *view, struct sample_file *file)
{
	sched_undo(take_apart(view, file));
}

void sample_file_release(struct view *view, struct sample_file *file)
{
	if (atomic_fetch_sub(&file->references, 1) == 1)
		sched_release(take_apart(view, file));
}

void sample_files_undo_all(struct view *view)
{
	struct sample_file *file;
	for (;;) {
		lock_take(&view->lock);
		file = LIST_FIRST(&view->open_samples);
		lock_release(&view->lock);
		if (!file)
			return;
		sample_file_undo(view, file);
	}
}

void sample_file_read(fuse_req_t req, struct view *view, struct sample_file *file,
	size_t size, uint64_t offset)
{
	struct slice_source source = sample_content_source(&file->content);
	struct iovec iov[SLICE_IOV];
	size_t bytes;
	int n = slice(&source, offset, size, iov, &bytes);
	atomic_fetch_add(&file->references, 1);
	stats_add(STAT_READS, 1);
	stats_add(STAT_READ_BYTES, bytes);
	fuse_reply_iov(req, iov, n);
	sample_file_release(view, file);
}
