// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "view/sample.h"
#include "stats/stats.h"
#include "view/sample_bytes.h"
#include "view/sample_content.h"

#include <errno.h>
#include <stdatomic.h>

struct sample_file {
	LIST_ENTRY(sample_file) link; /* (view's lock) */
	/* The reader's, and one of each read: the kernel may release the file when it has
	 * the bytes of an answer, which is before the call that sends them returns. */
	atomic_uint references;
	struct sched_handle *handle;
	uint64_t inode;
	struct sample_content content;
};

static atomic_uint_fast64_t n_open;

uint64_t sample_files_open(void)
{
	return atomic_load(&n_open);
}

/* --- samples ------------------------------------------------------------------------ */

static int make_content(struct sample_file *file, struct view *view,
	struct sched_job *job, struct inode inode)
{
	struct sample_place place = {.epoch = sched_handle_epoch(file->handle),
		.position = inode.position,
		.format = sched_job_config(job)->format,
		.size = sample_size_of(view, job, sched_handle_sample(file->handle))};
	return sample_content_make(
		&view->context, job, &place, file->handle, &file->content);
}

uint32_t sample_epoch(struct view *view, const struct sched_job *job, struct inode inode)
{
	const struct sample_file *file;
	uint64_t number = inode_pack(inode);
	if (inode.epoch != INODE_CURRENT || !view_is_mappable(view, job))
		return sched_epoch_of(inode);
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

int sample_file_new(struct view *view, struct sched_job *job, struct inode inode,
	struct sched_handle *handle, struct sample_file **ret)
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
	atomic_fetch_add(&n_open, 1);
	lock_take(&view->lock);
	LIST_INSERT_HEAD(&view->open_samples, file, link);
	lock_release(&view->lock);
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
	atomic_fetch_sub(&n_open, 1);
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

/* --- labels ------------------------------------------------------------------------- */

uint64_t label_size(const struct sched_job *job)
{
	return label_bytes(dataset_classes(sched_job_dataset(job)));
}

/* The open file needs no memory: fh is the file's size and the label. */
uint64_t label_file(const struct sched_job *job, const struct sched_handle *handle)
{
	return label_size(job) << 32 |
	       dataset_label(sched_job_dataset(job), sched_handle_sample(handle));
}

void label_read(
	fuse_req_t req, size_t size, uint64_t offset, const struct fuse_file_info *fi)
{
	char text[LABEL_BYTES];
	uint32_t bytes = (uint32_t)(fi->fh >> 32);
	label_print((uint32_t)fi->fh, bytes, text);
	if (offset >= bytes)
		size = 0;
	else if (size > bytes - offset)
		size = bytes - (size_t)offset;
	fuse_reply_buf(req, size ? text + offset : NULL, size);
}
