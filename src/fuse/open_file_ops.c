// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/open_file_ops.h"
#include "fuse/await_close.h"
#include "fuse/by_worker.h"
#include "fuse/handover.h"

#include <errno.h>

void open_file_init(
	struct open_file *file, const struct request *request, uint64_t handle)
{
	*file = (struct open_file){.ops = request->ops,
		.session = request->session,
		.number = inode_pack(request->inode),
		.handle = handle};
	atomic_init(&file->references, 1);
}

static int borrow_locked(struct open_file *file)
{
	lock_assert_held(&file->session->lock);
	int err = handover_hold_locked(file->session, file->backing);
	file->borrows = err == 0;
	return err;
}

int open_file_list_locked(struct open_file *file)
{
	struct session *session = file->session;
	lock_assert_held(&session->lock);
	if (open_files_find(&session->open_files, file->handle))
		return -EEXIST;
	bool old = file->backing && handover_has_locked(session, file->backing);
	int err = old ? borrow_locked(file) : 0;
	return err ? err : open_files_add(&session->open_files, file);
}

int open_file_list(struct open_file *file)
{
	LOCK_SCOPE(&file->session->lock);
	return open_file_list_locked(file);
}

int open_file_keep(struct open_file *file)
{
	if (!file->backing || !file->session->place)
		return 0;
	file->kept =
		handover_add(file->session, file->handle, file->number, file->backing);
	return file->kept ? 0 : -ENFILE;
}

void open_file_drop(struct open_file *file)
{
	file->undo = true;
	open_file_put(file);
}

/* Returns a reference to an open file, or NULL if this engine did not open the file. */
static struct open_file *find(struct session *session, uint64_t handle)
{
	LOCK_SCOPE(&session->lock);
	struct open_file *file = open_files_find(&session->open_files, handle);
	if (!file || file->outlived)
		return NULL;
	open_file_hold(file);
	return file;
}

void open_file_hold(struct open_file *file)
{
	atomic_fetch_add(&file->references, 1);
}

void open_file_put(struct open_file *file)
{
	if (atomic_fetch_sub(&file->references, 1) > 1)
		return;
	if (file->borrows)
		handover_put(file->session, file->backing);
	if (file->ops->end)
		file->ops->end(file);
	else
		free(file);
}

bool open_file_size(struct session *session, struct inode inode, uint64_t *ret)
{
	LOCK_SCOPE(&session->lock);
	const struct open_file *file =
		open_files_of(&session->open_files, inode_pack(inode));
	*ret = file ? file->size : 0;
	return *ret > 0;
}

static void read_and_put(const struct request *request, struct open_file *file)
{
	file->ops->read(request, file);
	open_file_put(file);
}

void open_file_read(const struct request *request)
{
	struct open_file *file = find(request->session, request->fi.fh);
	if (file)
		read_and_put(request, file);
	else if (request->ops->again_takes_long)
		by_worker_answer(request, request->ops->again);
	else
		request->ops->again(request);
}

void open_file_read_again(const struct request *request, int err)
{
	bool listed = err == 0 || err == -EEXIST;
	struct open_file *file = listed ? find(request->session, request->fi.fh) : NULL;
	if (file)
		read_and_put(request, file);
	else
		reply_error(request->req, listed ? -EIO : err);
}

bool open_file_close(struct session *session, uint64_t handle, bool undo)
{
	lock_take(&session->lock);
	struct open_file *file = open_files_find(&session->open_files, handle);
	if (file) {
		open_files_remove(&session->open_files, file);
		file->undo = undo;
	}
	lock_release(&session->lock);
	if (!file)
		return false;
	await_close_tell(session, file->number);
	kept_open_remove(file->kept);
	if (file->ops->cancel)
		file->ops->cancel(file);
	open_file_put(file);
	return true;
}

void open_file_undo(struct open_file *file)
{
	(void)open_file_close(file->session, file->handle, true);
}

void open_files_undo_all(struct session *session)
{
	struct open_file *file;
	do {
		lock_take(&session->lock);
		file = open_files_any(&session->open_files);
		lock_release(&session->lock);
		if (file)
			open_file_undo(file);
	} while (file);
}

bool open_file_take_back(struct session *session, uint32_t *ret_epoch)
{
	struct kept_open *kept = handover_find_resent(session);
	struct inode inode;
	if (!kept)
		return false;
	*ret_epoch = kept->epoch;
	if (!kept->backing || session_inode(session, kept->inode, &inode) != 0)
		kept_open_remove(kept);
	else
		(void)open_file_close(session, atomic_load(&kept->handle), true);
	return *ret_epoch != INODE_CURRENT;
}

int open_file_outlives(const struct request *request, struct kept_open *kept)
{
	struct session *session = request->session;
	struct open_file *file;
	int err = request->ops->outlives ? request->ops->outlives(request, &file) : -EIO;
	if (err)
		return err;
	file->backing = kept->backing;
	file->outlived = true;
	lock_take(&session->lock);
	err = borrow_locked(file);
	if (!err)
		err = open_files_add(&session->open_files, file);
	if (!err) {
		file->since_ns = kept->since_ns;
		file->kept = kept;
	}
	lock_release(&session->lock);
	if (err)
		open_file_drop(file);
	return err;
}
