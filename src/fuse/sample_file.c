// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/fault.h"
#include "files/content.h"
#include "files/content_bytes.h"
#include "fuse/handle.h"
#include "fuse/handover.h"
#include "fuse/passthrough.h"
#include "fuse/reader.h"
#include "fuse/sample_file.h"
#include "sched/jobs.h"
#include "stats/stats.h"

#include <errno.h>
#include <stdatomic.h>

struct sample_file {
	struct open_file open; /* (session's lock) the first member */
	/* The reader has one, and so has each read: the kernel may release the file once it has
	 * an answer's bytes, before the call that sends them has returned. */
	atomic_uint references;
	struct sched_job *job;
	struct sched_handle *handle; /* NULL: outlived, and the kernel reads it */
	uint64_t inode;
	uint32_t epoch, position;
	bool second;  /* the second file of a pair, which consumes nothing */
	int backing;  /* the file that the kernel reads it from; 0: none */
	bool borrows; /* the file is one that outlived its engine */
	struct kept_open *kept;
	struct content content;
};

static struct sample_file *file_of(struct open_file *open)
{
	return (struct sample_file *)open;
}

static int make_content(struct sample_file *file, struct session *session)
{
	struct content_place place = {.epoch = file->epoch,
		.position = file->position,
		.format = sched_job_config(file->job)->format,
		.size = sizes_of_sample(session->sizes, file->job, file->epoch,
			sched_handle_sample(file->handle), file->second),
		.second = file->second};
	return content_make(
		&session->context, file->job, &place, file->handle, &file->content);
}

static void sample_file_free(struct sample_file *file)
{
	if (!file)
		return;
	content_free(&file->content);
	sched_job_put(file->job);
	free(file);
}

/* Tells whether the kernel can't have both files open. */
static bool excludes(const struct session *session, const struct sample_file *file,
	const struct sample_file *other)
{
	if (other->backing || file->backing)
		return other->backing != file->backing;
	return session_is_mappable(session, file->job) && other->epoch != file->epoch;
}

static const struct sample_file *find_other_locked(
	const struct session *session, const struct sample_file *file)
{
	lock_assert_held(&session->lock);
	struct open_file *open = open_files_of(&session->open_samples, file->inode);
	while (open && !excludes(session, file, file_of(open)))
		open = LIST_NEXT(open, link);
	return open ? file_of(open) : NULL;
}

/* Tells whether the file may be read as `other` is. A file of the same position that another
 * engine has opened has the same bytes, and the kernel wants it to be read from the same file. */
static bool may_join_locked(const struct session *session, const struct sample_file *file,
	const struct sample_file *other)
{
	lock_assert_held(&session->lock);
	return other->job == file->job && other->epoch == file->epoch &&
	       (!other->backing || handover_has_locked(session, other->backing)) &&
	       !fault_hit("passthrough.new");
}

/* Makes the kernel read the file as it reads `other`, which is open of the inode; other may be
 * NULL. -ENOMEM */
static int join_locked(struct session *session, struct sample_file *file,
	const struct sample_file *other)
{
	lock_assert_held(&session->lock);
	if (other)
		file->backing = other->backing;
	if (!file->backing || !handover_has_locked(session, file->backing))
		return 0;
	int err = handover_hold_locked(session, file->backing);
	file->borrows = err == 0;
	return err;
}

/* Lists the file. -EAGAIN: another epoch of it is open; -ENOMEM. */
static int list_file(struct session *session, struct sample_file *file,
	struct close_waiter *waiter, uint32_t *ret_epoch)
{
	LOCK_SCOPE(&session->lock);
	const struct sample_file *other = find_other_locked(session, file);
	*ret_epoch = SCHED_CURRENT;
	if (other && !may_join_locked(session, file, other)) {
		if (!await_close_locked(session, waiter, &other->open, file->inode))
			*ret_epoch = other->epoch;
		return -EAGAIN;
	}
	int err = join_locked(session, file, other);
	return err ? err
		   : open_files_add(&session->open_samples, file->inode,
			     handle_new(file->epoch), &file->open);
}

/* Lists a file that a previous engine has opened. -EEXIST: another read has done so. */
static int list_again(struct session *session, struct sample_file *file, uint64_t handle)
{
	LOCK_SCOPE(&session->lock);
	if (open_files_find(&session->open_samples, handle))
		return -EEXIST;
	return open_files_add(&session->open_samples, file->inode, handle, &file->open);
}

bool sample_file_open_size(struct session *session, struct inode inode, uint64_t *ret)
{
	LOCK_SCOPE(&session->lock);
	struct open_file *open = open_files_of(&session->open_samples, inode_pack(inode));
	*ret = open ? file_of(open)->content.size : 0;
	return *ret > 0;
}

int sample_file_backing(const struct sample_file *file)
{
	return file->backing;
}

uint64_t sample_file_handle(const struct sample_file *file)
{
	return file->open.handle;
}

static struct sample_file *file_new(
	struct sched_job *job, struct inode inode, uint32_t epoch, unsigned references)
{
	struct sample_file *file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->job = sched_job_hold(job);
	file->inode = inode_pack(inode);
	file->epoch = epoch;
	file->position = inode.position;
	file->second = inode.kind == INODE_PAIR;
	atomic_init(&file->references, references);
	return file;
}

/* Lists the file for later engines, before the kernel is told of it. -ENFILE: too many are
 * listed. */
static int keep(struct session *session, struct sample_file *file)
{
	if (!file->backing || !session->place)
		return 0;
	file->kept = handover_add(
		session, file->open.handle, file->inode, file->epoch, file->backing);
	return file->kept ? 0 : -ENFILE;
}

static void unlist(struct session *session, struct sample_file *file)
{
	lock_take(&session->lock);
	open_files_remove(&session->open_samples, &file->open);
	lock_release(&session->lock);
	await_close_tell(session, file->inode);
}

/* Frees a file that is not listed any more, and returns its handle. */
static struct sched_handle *take_apart(struct session *session, struct sample_file *file)
{
	struct sched_handle *handle = file->handle;
	kept_open_remove(file->kept);
	if (file->borrows)
		handover_put(session, file->backing);
	sample_file_free(file);
	return handle;
}

static void undo(struct sched_handle *handle, int err)
{
	/* A bad sample is consumed like a good one, so that its epoch can end. */
	if (err == -EIO)
		sched_release(handle);
	else
		sched_undo(handle);
}

/* Makes the file of a handle. Takes over the handle, also on failure. */
static int make(struct session *session, struct sched_job *job, struct inode inode,
	struct sched_handle *handle, unsigned references, struct sample_file **ret)
{
	uint32_t epoch = sched_handle_epoch(handle);
	struct sample_file *file = file_new(job, inode, epoch, references);
	if (!file) {
		sched_undo(handle);
		return -ENOMEM;
	}
	file->handle = handle;
	int err = make_content(file, session);
	if (err)
		undo(take_apart(session, file), err);
	*ret = file;
	return err;
}

int sample_file_new(struct session *session, struct sched_job *job, struct inode inode,
	struct sched_handle *handle, struct close_waiter *waiter,
	struct sample_file **ret, uint32_t *ret_epoch)
{
	struct sample_file *file;
	int err = make(session, job, inode, handle, 1, &file);
	if (err)
		return err;
	file->backing = passthrough_of(session, job, &file->content);
	err = list_file(session, file, waiter, ret_epoch);
	if (err) {
		undo(take_apart(session, file), err);
		return err;
	}
	err = keep(session, file);
	if (err) {
		unlist(session, file);
		undo(take_apart(session, file), err);
		return err;
	}
	stats_change(STAT_OPEN_FILES, 1);
	*ret = file;
	return 0;
}

int sample_file_again(struct session *session, struct sched_job *job, struct inode inode,
	struct sched_handle *handle, uint64_t number, struct sample_file **ret)
{
	struct sample_file *file;
	int err = make(session, job, inode, handle, 2, &file);
	if (err)
		return err;
	err = list_again(session, file, number);
	if (err) {
		undo(take_apart(session, file), err);
		return err;
	}
	stats_change(STAT_OPEN_FILES, 1);
	*ret = file;
	return 0;
}

static void put(struct session *session, struct sample_file *file, bool read)
{
	if (atomic_fetch_sub(&file->references, 1) > 1)
		return;
	stats_change(STAT_OPEN_FILES, -1);
	struct sched_job *job = sched_job_hold(file->job);
	uint32_t epoch = file->epoch, position = file->position;
	read = read && !file->second;
	struct sched_handle *handle = take_apart(session, file);
	if (!handle && read)
		sched_consume(job, epoch, position, 1);
	else if (handle && read)
		sched_release(handle);
	else if (handle)
		sched_undo(handle);
	sched_job_put(job);
}

void sample_file_undo(struct session *session, struct sample_file *file)
{
	unlist(session, file);
	put(session, file, false);
}

/* Takes a file out of the list; NULL: it is not listed. */
static struct sample_file *take_out(struct session *session, uint64_t handle)
{
	lock_take(&session->lock);
	struct open_file *open = open_files_find(&session->open_samples, handle);
	if (open)
		open_files_remove(&session->open_samples, open);
	lock_release(&session->lock);
	if (!open)
		return NULL;
	await_close_tell(session, file_of(open)->inode);
	return file_of(open);
}

static void consume_unopened(struct session *session, struct inode inode, uint32_t epoch)
{
	struct sched_job *job = sched_job_find_id(session->context.sched, inode.job);
	if (!job)
		return;
	if (inode.kind == INODE_SAMPLE)
		sched_consume(job, epoch, inode.position, 1);
	sched_job_put(job);
}

void sample_file_release(struct session *session, struct inode inode, uint64_t handle)
{
	struct sample_file *file = take_out(session, handle);
	if (file)
		put(session, file, true);
	else
		consume_unopened(session, inode, handle_epoch(handle));
}

void sample_file_forget(struct session *session, uint64_t handle)
{
	struct sample_file *file = take_out(session, handle);
	if (file)
		put(session, file, false);
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

static int outlived_new(struct session *session, struct inode inode, uint32_t epoch,
	struct sample_file **ret)
{
	struct sched_job *job = sched_job_find_id(session->context.sched, inode.job);
	if (!job)
		return -ENOENT;
	sample_id sample = sched_bound(job, epoch, inode.position);
	struct sample_file *file = file_new(job, inode, epoch, 1);
	if (file && sample != SAMPLE_NONE)
		file->content.size =
			sizes_of_sample(session->sizes, job, epoch, sample, file->second);
	sched_job_put(job);
	*ret = file;
	return file ? 0 : -ENOMEM;
}

int sample_file_outlives(
	struct session *session, struct inode inode, struct kept_open *open)
{
	struct sample_file *file;
	int err = outlived_new(session, inode, open->epoch, &file);
	if (err)
		return err;
	LOCK_SCOPE(&session->lock);
	file->backing = open->backing;
	file->kept = open;
	err = handover_hold_locked(session, open->backing);
	file->borrows = err == 0;
	if (!err)
		err = open_files_add(&session->open_samples, file->inode,
			atomic_load(&open->handle), &file->open);
	if (err) {
		sample_file_free(file);
		return err;
	}
	file->open.since_ns = open->since_ns;
	stats_change(STAT_OPEN_FILES, 1);
	return 0;
}

struct sample_file *sample_file_find(struct session *session, uint64_t handle)
{
	LOCK_SCOPE(&session->lock);
	struct open_file *open = open_files_find(&session->open_samples, handle);
	if (!open || !file_of(open)->handle)
		return NULL;
	atomic_fetch_add(&file_of(open)->references, 1);
	return file_of(open);
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
	stats_add(STAT_READS, 1);
	stats_add(STAT_READ_BYTES, bytes);
	fuse_reply_iov(req, iov, n);
	put(session, file, true);
}
