// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/sample_file.h"
#include "files/content.h"
#include "files/content_bytes.h"
#include "fuse/passthrough.h"
#include "fuse/reader.h"
#include "stats/stats.h"

#include <errno.h>
#include <stdatomic.h>

struct sample_file {
	struct open_file open; /* (session's lock) the first member */
	/* One of the reader, and one of each read: the kernel may release the file once
	 * it has an answer's bytes, before the call that sends them has returned. */
	atomic_uint references;
	struct sched_handle *handle;
	uint64_t inode;
	int backing; /* the file that the kernel reads it from; 0: none */
	struct content content;
};

static struct sample_file *file_of(struct open_file *open)
{
	return (struct sample_file *)open;
}

static int make_content(struct sample_file *file, struct session *session,
	struct sched_job *job, struct inode inode)
{
	struct content_place place = {.epoch = sched_handle_epoch(file->handle),
		.position = inode.position,
		.format = sched_job_config(job)->format,
		.size = sizes_of_sample(
			session->sizes, job, sched_handle_sample(file->handle))};
	return content_make(&session->context, job, &place, file->handle, &file->content);
}

static void sample_file_free(struct sample_file *file)
{
	if (!file)
		return;
	content_free(&file->content);
	free(file);
}

/* The kernel can't have both open. */
static bool excludes(const struct session *session, const struct sched_job *job,
	const struct sample_file *file, const struct sample_file *other)
{
	if (other->backing || file->backing)
		return other->backing != file->backing;
	return session_is_mappable(session, job) &&
	       sched_handle_epoch(other->handle) != sched_handle_epoch(file->handle);
}

static struct sample_file *find_other_locked(const struct session *session,
	const struct sched_job *job, const struct sample_file *file)
{
	lock_assert_held(&session->lock);
	struct open_file *open = open_files_of(&session->open_samples, file->inode);
	while (open && !excludes(session, job, file, file_of(open)))
		open = LIST_NEXT(open, link);
	return open ? file_of(open) : NULL;
}

/* -EAGAIN: others have it open in another epoch; -ENOMEM. */
static int list_file(struct session *session, const struct sched_job *job,
	struct sample_file *file, struct close_waiter *waiter, uint32_t *ret_epoch)
{
	LOCK_SCOPE(&session->lock);
	const struct sample_file *other = find_other_locked(session, job, file);
	*ret_epoch = SCHED_CURRENT;
	if (!other)
		return open_files_add(&session->open_samples, file->inode, &file->open);
	if (!await_close_locked(session, waiter, &other->open, file->inode))
		*ret_epoch = sched_handle_epoch(other->handle);
	return -EAGAIN;
}

bool sample_file_open_size(struct session *session, struct inode inode, uint64_t *ret)
{
	LOCK_SCOPE(&session->lock);
	struct open_file *open = open_files_of(&session->open_samples, inode_pack(inode));
	if (open)
		*ret = file_of(open)->content.size;
	return open;
}

int sample_file_backing(const struct sample_file *file)
{
	return file->backing;
}

int sample_file_new(struct session *session, struct sched_job *job, struct inode inode,
	struct sched_handle *handle, struct close_waiter *waiter,
	struct sample_file **ret, uint32_t *ret_epoch)
{
	struct sample_file *file = calloc(1, sizeof(*file));
	int err = -ENOMEM;
	if (!file)
		goto fail;
	file->handle = handle;
	file->inode = inode_pack(inode);
	atomic_init(&file->references, 1);
	err = make_content(file, session, job, inode);
	if (err)
		goto fail;
	file->backing = passthrough_of(session, job, &file->content);
	err = list_file(session, job, file, waiter, ret_epoch);
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

static struct sched_handle *take_apart(struct session *session, struct sample_file *file)
{
	struct sched_handle *handle = file->handle;
	lock_take(&session->lock);
	open_files_remove(&session->open_samples, &file->open);
	lock_release(&session->lock);
	await_close_tell(session, file->inode);
	stats_change(STAT_OPEN_FILES, -1);
	sample_file_free(file);
	return handle;
}

void sample_file_undo(struct session *session, struct sample_file *file)
{
	sched_undo(take_apart(session, file));
}

void sample_file_release(struct session *session, struct sample_file *file)
{
	if (atomic_fetch_sub(&file->references, 1) == 1)
		sched_release(take_apart(session, file));
}

void sample_files_undo_all(struct session *session)
{
	struct open_file *open;
	for (;;) {
		lock_take(&session->lock);
		open = open_files_any(&session->open_samples);
		lock_release(&session->lock);
		if (!open)
			return;
		sample_file_undo(session, file_of(open));
	}
}

void sample_file_read(fuse_req_t req, struct session *session, struct sample_file *file,
	size_t size, uint64_t offset)
{
	struct content_parts source = content_parts(&file->content);
	struct iovec iov[CONTENT_IOV];
	size_t bytes;
	int n = content_cut(&source, offset, size, iov, &bytes);
	if (offset + bytes >= file->content.size)
		reader_has_read(req);
	atomic_fetch_add(&file->references, 1);
	stats_add(STAT_READS, 1);
	stats_add(STAT_READ_BYTES, bytes);
	fuse_reply_iov(req, iov, n);
	sample_file_release(session, file);
}
