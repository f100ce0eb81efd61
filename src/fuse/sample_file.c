// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/sample_file.h"
#include "base/fault.h"
#include "files/content.h"
#include "files/content_bytes.h"
#include "fuse/passthrough.h"
#include "fuse/reader.h"
#include "stats/stats.h"

#include <errno.h>
#include <stdatomic.h>

struct sample_file {
	LIST_ENTRY(sample_file) link; /* (session's lock) */
	/* One of the reader, and one of each read: the kernel may release the file once
	 * it has an answer's bytes, before the call that sends them has returned. */
	atomic_uint references;
	struct sched_handle *handle;
	uint64_t inode;
	int backing; /* the file that the kernel reads it from; 0: none */
	struct content content;
};

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

uint32_t sample_file_epoch(
	struct session *session, const struct sched_job *job, struct inode inode)
{
	const struct sample_file *file;
	uint64_t number = inode_pack(inode);
	if (inode.epoch != INODE_CURRENT || !session_is_mappable(session, job) ||
		fault_hit("sample.late"))
		return inode_sched_epoch(inode);
	LOCK_SCOPE(&session->lock);
	LIST_FOREACH (file, &session->open_samples, link)
		if (file->inode == number)
			return sched_handle_epoch(file->handle);
	return SCHED_CURRENT;
}

static void sample_file_free(struct sample_file *file)
{
	if (!file)
		return;
	content_free(&file->content);
	free(file);
}

/* An open file of the same inode with another file behind it; NULL: none. */
static const struct sample_file *find_other_locked(
	const struct session *session, const struct sample_file *file)
{
	const struct sample_file *other;
	lock_assert_held(&session->lock);
	LIST_FOREACH (other, &session->open_samples, link)
		if (other->inode == file->inode && other->backing != file->backing)
			return other;
	return NULL;
}

/* -EAGAIN: the kernel would fail the open. */
static int list_file(
	struct session *session, struct sample_file *file, uint32_t *ret_epoch)
{
	LOCK_SCOPE(&session->lock);
	const struct sample_file *other =
		session->passes_through ? find_other_locked(session, file) : NULL;
	if (other) {
		*ret_epoch = sched_handle_epoch(other->handle);
		return -EAGAIN;
	}
	LIST_INSERT_HEAD(&session->open_samples, file, link);
	return 0;
}

int sample_file_backing(const struct sample_file *file)
{
	return file->backing;
}

int sample_file_new(struct session *session, struct sched_job *job, struct inode inode,
	struct sched_handle *handle, struct sample_file **ret, uint32_t *ret_epoch)
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
	err = list_file(session, file, ret_epoch);
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
	LIST_REMOVE(file, link);
	lock_release(&session->lock);
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
	struct sample_file *file;
	for (;;) {
		lock_take(&session->lock);
		file = LIST_FIRST(&session->open_samples);
		lock_release(&session->lock);
		if (!file)
			return;
		sample_file_undo(session, file);
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
