// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/sample_file.h"
#include "base/fault.h"
#include "files/content.h"
#include "fuse/await_close.h"
#include "fuse/handle.h"
#include "fuse/handover.h"
#include "fuse/passthrough.h"
#include "fuse/reader.h"
#include "sched/jobs.h"
#include "stats/stats.h"

#include <errno.h>

struct sample_file {
	struct open_file open; /* comes first, so that pointers can be cast */
	struct sched_job *job;
	/* NULL: an earlier engine opened the file, and the kernel reads it */
	struct sched_handle *handle;
	uint32_t epoch, position;
	bool second; /* the second file of a pair; its release consumes nothing */
	struct content content;
};

static struct sample_file *file_of(struct open_file *open)
{
	return (struct sample_file *)open;
}

/* Tells whether the kernel forbids that both files, which have one inode, are open at once. */
static bool excludes(const struct sample_file *file, const struct sample_file *other)
{
	if (other->open.backing || file->open.backing)
		return other->open.backing != file->open.backing;
	return session_is_mappable(file->open.session, file->job) &&
	       other->epoch != file->epoch;
}

static const struct sample_file *find_other_locked(const struct sample_file *file)
{
	const struct session *session = file->open.session;
	lock_assert_held(&session->lock);
	struct open_file *open = open_files_of(&session->open_files, file->open.number);
	while (open && !excludes(file, file_of(open)))
		open = LIST_NEXT(open, link);
	return open ? file_of(open) : NULL;
}

/* Tells whether the file may be open together with `other`, and get the backing file of `other`.
 * Both files must have the same job and epoch, and so the same bytes. If `other` has a backing
 * file, an earlier engine must have registered it. */
static bool may_join_locked(
	const struct sample_file *file, const struct sample_file *other)
{
	const struct session *session = file->open.session;
	int backing = other->open.backing;
	lock_assert_held(&session->lock);
	return other->job == file->job && other->epoch == file->epoch &&
	       (!backing || handover_has_locked(session, backing)) &&
	       !fault_hit("passthrough.new");
}

/* Adds the file to the session's list. -EAGAIN: another reader has another epoch of the position
 * open, and *ret_epoch is set as for sample_file_new. */
static int list_file(
	struct sample_file *file, struct close_waiter *waiter, uint32_t *ret_epoch)
{
	struct session *session = file->open.session;
	LOCK_SCOPE(&session->lock);
	const struct sample_file *other = find_other_locked(file);
	*ret_epoch = SCHED_CURRENT;
	if (other && !may_join_locked(file, other)) {
		if (!await_close_locked(waiter, &other->open))
			*ret_epoch = other->epoch;
		return -EAGAIN;
	}
	if (other)
		file->open.backing = other->open.backing;
	return open_file_list_locked(&file->open);
}

static struct sample_file *file_new(
	const struct request *request, struct sched_job *job, uint64_t handle)
{
	struct sample_file *file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	open_file_init(&file->open, request, handle);
	file->job = sched_job_hold(job);
	file->epoch = handle_epoch(handle);
	file->position = request->inode.position;
	file->second = request->inode.kind == INODE_PAIR;
	stats_change(STAT_OPEN_FILES, 1);
	return file;
}

static int make_content(struct sample_file *file)
{
	struct session *session = file->open.session;
	struct content_place place = {.epoch = file->epoch,
		.position = file->position,
		.format = sched_job_config(file->job)->format,
		.size = sizes_of_sample(session->sizes, file->job, file->epoch,
			sched_handle_sample(file->handle), file->second),
		.second = file->second};
	int err = content_make(
		&session->context, file->job, &place, file->handle, &file->content);
	file->open.size = file->content.size;
	return err;
}

/* Makes a file and its content. Takes over the handle `position`, also on failure. */
static int make(const struct request *request, struct sched_job *job,
	struct sched_handle *position, uint64_t handle, struct sample_file **ret)
{
	struct sample_file *file = file_new(request, job, handle);
	if (!file) {
		sched_undo(position);
		return -ENOMEM;
	}
	file->handle = position;
	int err = make_content(file);
	if (err == -EIO) { /* a bad sample is consumed, so that the epoch can end */
		sched_release(position);
		file->handle = NULL;
	}
	if (err)
		open_file_drop(&file->open);
	*ret = file;
	return err;
}

int sample_file_new(const struct request *request, struct sched_job *job,
	struct sched_handle *handle, struct close_waiter *waiter, struct open_file **ret,
	uint32_t *ret_epoch)
{
	struct sample_file *file;
	uint64_t number = handle_new(sched_handle_epoch(handle));
	int err = make(request, job, handle, number, &file);
	if (err)
		return err;
	*ret = &file->open;
	file->open.backing = passthrough_of(request->session, job, &file->content);
	err = list_file(file, waiter, ret_epoch);
	if (err) {
		open_file_drop(&file->open);
		return err;
	}
	err = open_file_keep(&file->open);
	if (err)
		open_file_undo(&file->open);
	return err;
}

void sample_file_read_again(
	const struct request *request, struct sched_job *job, struct sched_handle *handle)
{
	struct sample_file *file;
	int err = make(request, job, handle, request->fi.fh, &file);
	if (!err) {
		err = open_file_list(&file->open);
		if (err)
			open_file_drop(&file->open);
	}
	open_file_read_again(request, err);
}

int sample_file_outlives(const struct request *request, struct open_file **ret)
{
	struct session *session = request->session;
	auto_job *job = sched_job_find_id(session->context.sched, request->inode.job);
	if (!job)
		return -ENOENT;
	struct sample_file *file = file_new(request, job, request->fi.fh);
	sample_id sample =
		file ? sched_bound(job, file->epoch, file->position) : SAMPLE_NONE;
	if (sample != SAMPLE_NONE)
		file->open.size = sizes_of_sample(
			session->sizes, job, file->epoch, sample, file->second);
	*ret = &file->open;
	return file ? 0 : -ENOMEM;
}

void sample_file_read(const struct request *request, struct open_file *open)
{
	struct content_parts source = content_parts(&file_of(open)->content);
	struct iovec iov[CONTENT_IOV];
	size_t bytes;
	int n = content_cut(&source, request->offset, request->size, iov, &bytes);
	if (request->offset + bytes >= open->size)
		reader_has_read(request->req);
	reply_samples(request->req, iov, n, bytes);
}

void sample_file_consume(const struct request *request)
{
	struct inode inode = request->inode;
	auto_job *job = sched_job_find_id(request->session->context.sched, inode.job);
	if (job && inode.kind == INODE_SAMPLE)
		sched_consume(job, handle_epoch(request->fi.fh), inode.position, 1);
}

void sample_file_end(struct open_file *open)
{
	struct sample_file *file = file_of(open);
	bool consumes = !open->undo && !file->second;
	stats_change(STAT_OPEN_FILES, -1);
	content_free(&file->content);
	if (file->handle && consumes)
		sched_release(file->handle);
	else if (file->handle)
		sched_undo(file->handle);
	else if (consumes)
		sched_consume(file->job, file->epoch, file->position, 1);
	sched_job_put(file->job);
	free(file);
}
