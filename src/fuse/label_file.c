// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/label.h"
#include "fuse/handle.h"
#include "fuse/label_file.h"
#include "fuse/handover.h"
#include "fuse/passthrough.h"
#include "sched/jobs.h"
#include "sched/positions.h"

#include <errno.h>
#include <string.h>

/*
 * Labels cost as many requests as samples. So with io = auto labels are read without requests:
 *
 *   - The kernel reads a label from a file, which all labels of this text share. It stays
 *     the same file for a position of an epoch, as the kernel wants it.
 *   - In current/, and where the kernel can't do that, the bytes are put into its page
 *     cache before the open is answered. The page cache has one content for a position's
 *     label, and another reader may have it open in another epoch. If anybody has it
 *     open, reads come to us, past the page cache.
 */
struct label_file {
	struct open_file open; /* (session's lock) the first member */
	uint64_t number;       /* the kernel's number of its inode */
	bool automatic;	       /* io = auto */
	uint32_t bytes, label;
	int backing;  /* the file that the kernel reads it from; 0: none */
	bool borrows; /* that file is one that outlived its engine */
	struct kept_open *kept;
};

/* Most files that the kernel reads labels from; each takes a page and a half. */
#define MAX_TEXTS 32768

struct label_text {
	UT_hash_handle hash;
	uint64_t key; /* bytes, label */
	int backing;
};

/* --- read by the kernel ------------------------------------------------------------- */

static uint64_t key_of(const struct label_file *file)
{
	return (uint64_t)file->bytes << 32 | file->label;
}

static struct label_text *find_text_locked(const struct session *session, uint64_t key)
{
	struct label_text *text;
	lock_assert_held(&session->lock);
	HASH_FIND(hash, session->label_texts, &key, sizeof(key), text);
	return text;
}

static int add_text_locked(struct session *session, uint64_t key, int backing)
{
	lock_assert_held(&session->lock);
	if (HASH_CNT(hash, session->label_texts) >= MAX_TEXTS)
		return -ENFILE;
	struct label_text *text = calloc(1, sizeof(*text));
	if (!text)
		return -ENOMEM;
	text->key = key;
	text->backing = backing;
	HASH_ADD(hash, session->label_texts, key, sizeof(text->key), text);
	if (text->hash.tbl)
		return 0;
	free(text);
	return -ENOMEM;
}

/* Keeps the file for its text. Returns the file that is kept, which another thread may have
 * made; 0: none is kept. */
static int keep_text(struct session *session, uint64_t key, int backing)
{
	LOCK_SCOPE(&session->lock);
	const struct label_text *text = find_text_locked(session, key);
	if (text)
		return text->backing;
	return add_text_locked(session, key, backing) == 0 ? backing : 0;
}

static int make_text(struct session *session, const struct label_file *file)
{
	char bytes[LABEL_BYTES];
	int made;
	label_print(file->label, file->bytes, bytes);
	if (backing_add(session->context.backings, bytes, file->bytes, &made) != 0)
		return 0;
	int kept = keep_text(session, key_of(file), made);
	if (kept != made)
		backing_remove(session->context.backings, made);
	return kept;
}

/* Returns the file of the label's text; 0: there is none. */
static int text_backing(struct session *session, const struct label_file *file)
{
	lock_take(&session->lock);
	const struct label_text *text = find_text_locked(session, key_of(file));
	int backing = text ? text->backing : 0;
	lock_release(&session->lock);
	return backing ? backing : make_text(session, file);
}

/* --- put into the page cache -------------------------------------------------------- */

/* Makes the kernel read the label from the file that it reads the open inode from. -ENOMEM */
static int join_locked(struct session *session, struct label_file *file)
{
	const struct open_file *other =
		open_files_of(&session->open_labels, file->number);
	lock_assert_held(&session->lock);
	if (other && session->passes_through)
		file->backing = ((const struct label_file *)other)->backing;
	if (!file->backing || !handover_has_locked(session, file->backing))
		return 0;
	int err = handover_hold_locked(session, file->backing);
	file->borrows = err == 0;
	return err;
}

/* Lists the file. *ret_cache: whether it may use the page cache: may_cache is set, and nobody
 * else has it open. -ENOMEM. */
static int list_file(struct session *session, struct label_file *file, uint32_t epoch,
	bool may_cache, bool *ret_cache)
{
	LOCK_SCOPE(&session->lock);
	*ret_cache = may_cache && !open_files_of(&session->open_labels, file->number);
	int err = join_locked(session, file);
	return err ? err
		   : open_files_add(&session->open_labels, file->number,
			     handle_new(epoch), &file->open);
}

static void end(struct session *session, struct label_file *file)
{
	kept_open_remove(file->kept);
	if (file->borrows)
		handover_put(session, file->backing);
	free(file);
}

static void free_file(struct session *session, struct label_file *file)
{
	lock_take(&session->lock);
	open_files_remove(&session->open_labels, &file->open);
	lock_release(&session->lock);
	end(session, file);
}

/* Lists the file for later engines, before the kernel is told of it. -ENFILE: too many are
 * listed. */
static int keep(struct session *session, struct label_file *file, uint32_t epoch)
{
	if (!file->backing || !session->place)
		return 0;
	file->kept = handover_add(
		session, file->open.handle, file->number, epoch, file->backing);
	return file->kept ? 0 : -ENFILE;
}

int label_file_outlives(struct session *session, struct kept_open *open)
{
	struct label_file *file = malloc(sizeof(*file));
	if (!file)
		return -ENOMEM;
	*file = (struct label_file){
		.number = open->inode, .backing = open->backing, .kept = open};
	LOCK_SCOPE(&session->lock);
	int err = handover_hold_locked(session, open->backing);
	file->borrows = err == 0;
	if (!err)
		err = open_files_add(&session->open_labels, file->number,
			atomic_load(&open->handle), &file->open);
	if (err)
		free(file);
	return err;
}

static bool store(struct session *session, const struct label_file *file)
{
	char bytes[LABEL_BYTES];
	struct fuse_bufvec buffers = FUSE_BUFVEC_INIT(file->bytes);
	label_print(file->label, file->bytes, bytes);
	buffers.buf[0].mem = bytes;
	return !session->untold && fuse_lowlevel_notify_store(session->fuse, file->number,
					   0, &buffers, 0) == 0;
}

/* ------------------------------------------------------------------------------------ */

static int reply_label(fuse_req_t req, struct session *session, struct label_file *file,
	bool cache, struct fuse_file_info *reply)
{
	reply->fh = file->open.handle;
	if (file->backing)
		return passthrough_reply(req, reply->fh, file->backing);
	reply->keep_cache = cache && store(session, file);
	reply->direct_io = !reply->keep_cache;
	return fuse_reply_open(req, reply);
}

static bool has_fixed_label(struct sched_job *job, struct inode inode)
{
	uint32_t label;
	return sched_label(job, inode_sched_epoch(inode), inode.position, &label);
}

/* Opens a label and answers. rolls: the position will have another label. */
static void open_file(fuse_req_t req, struct session *session, struct label_file *file,
	bool rolls, uint32_t epoch, struct fuse_file_info *reply)
{
	bool fixed = session->passes_through && !rolls, cache;
	file->backing = file->automatic && fixed ? text_backing(session, file) : 0;
	int err = list_file(session, file, epoch, file->automatic && !fixed, &cache);
	if (err) {
		end(session, file);
		reply_error(req, err);
		return;
	}
	err = keep(session, file, epoch);
	if (err)
		reply_error(req, err);
	else
		err = reply_label(req, session, file, cache, reply);
	if (err)
		free_file(session, file);
}

void label_file_opened(fuse_req_t req, struct session *session, struct sched_job *job,
	struct inode inode, uint32_t epoch, uint32_t label,
	const struct fuse_file_info *fi)
{
	struct fuse_file_info reply = *fi;
	struct label_file *file = malloc(sizeof(*file));
	if (!file) {
		reply_error(req, -ENOMEM);
		return;
	}
	*file = (struct label_file){.number = session_number(session, inode),
		.automatic = sched_job_config(job)->io == IO_AUTO,
		.bytes = label_bytes_of(job, epoch),
		.label = label};
	bool rolls = inode.epoch == INODE_CURRENT && !has_fixed_label(job, inode);
	open_file(req, session, file, rolls, epoch, &reply);
}

static void answer_read(
	fuse_req_t req, const struct label_file *file, size_t size, uint64_t offset)
{
	char text[LABEL_BYTES];
	label_print(file->label, file->bytes, text);
	if (offset >= file->bytes)
		size = 0;
	else if (size > file->bytes - offset)
		size = file->bytes - (size_t)offset;
	fuse_reply_buf(req, size ? text + offset : NULL, size);
}

void label_file_read_again(fuse_req_t req, struct sched_job *job, uint32_t label,
	size_t size, uint64_t offset)
{
	struct label_file file = {
		.bytes = label_bytes_of(job, SCHED_CURRENT), .label = label};
	answer_read(req, &file, size, offset);
}

/* Copies an open label. false: it is not open here, or a previous engine has opened it: of such
 * a file only this is known. */
static bool find(struct session *session, uint64_t handle, struct label_file *ret)
{
	LOCK_SCOPE(&session->lock);
	const struct open_file *open = open_files_find(&session->open_labels, handle);
	if (open)
		*ret = *(const struct label_file *)open;
	return open && ret->bytes > 0;
}

bool label_file_read(fuse_req_t req, struct session *session, uint64_t handle,
	size_t size, uint64_t offset)
{
	struct label_file file;
	if (!find(session, handle, &file))
		return false;
	answer_read(req, &file, size, offset);
	return true;
}

void label_file_release(struct session *session, uint64_t handle)
{
	lock_take(&session->lock);
	struct open_file *open = open_files_find(&session->open_labels, handle);
	if (open)
		open_files_remove(&session->open_labels, open);
	lock_release(&session->lock);
	if (open)
		end(session, (struct label_file *)open);
}

static void free_texts(struct session *session)
{
	struct label_text *text, *next;
	LOCK_SCOPE(&session->lock);
	HASH_ITER (hash, session->label_texts, text, next) {
		HASH_DELETE(hash, session->label_texts, text);
		free(text);
	}
}

void label_files_close_all(struct session *session)
{
	struct open_file *open;
	for (;;) {
		lock_take(&session->lock);
		open = open_files_any(&session->open_labels);
		lock_release(&session->lock);
		if (!open)
			break;
		free_file(session, (struct label_file *)open);
	}
	free_texts(session);
}
