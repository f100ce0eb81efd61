// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/label_file.h"
#include "files/label.h"
#include "fuse/handle.h"
#include "sched/jobs.h"
#include "sched/positions.h"

#include <errno.h>

/*
 * Labels would cost as many requests as samples. So, with io = auto, most labels are read without
 * requests:
 *
 * - The kernel reads a label from a backing file, which all labels with the same text share. All
 *   opens of an inode must have the same backing file. They do, because the label of a position in
 *   an epoch never changes.
 * - If a label of current/ may change, or if the kernel does not support backing files, the daemon
 *   writes the bytes into the page cache before it answers the open. The page cache has one content
 *   per inode. So if another reader has the inode open, perhaps in another epoch, the later open
 *   bypasses the page cache, and its reads come to the daemon.
 */
struct label_file {
	struct open_file open; /* comes first, so that pointers can be cast */
	uint32_t bytes, label;
};

#define MAX_TEXTS 32768 /* each text's backing file takes a page and a half of memory */

struct label_text {
	UT_hash_handle hash;
	uint64_t key; /* upper half: number of bytes; lower half: label */
	int backing;
};

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

/* Makes `backing` the backing file of a label's text, unless the text already has one. Returns the
 * text's backing file, or 0 if `backing` can't be noted. */
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

/* Returns the backing file of the label's text, made if there is none; 0: it can't be made. */
static int text_backing(struct session *session, const struct label_file *file)
{
	lock_take(&session->lock);
	const struct label_text *text = find_text_locked(session, key_of(file));
	int backing = text ? text->backing : 0;
	lock_release(&session->lock);
	return backing ? backing : make_text(session, file);
}

static bool store(const struct label_file *file)
{
	const struct session *session = file->open.session;
	char bytes[LABEL_BYTES];
	struct fuse_bufvec buffers = FUSE_BUFVEC_INIT(file->bytes);
	label_print(file->label, file->bytes, bytes);
	buffers.buf[0].mem = bytes;
	return !session->mount.untold && fuse_lowlevel_notify_store(session->fuse,
						 file->open.number, 0, &buffers, 0) == 0;
}

/* Adds the file to the session's list. *ret_cache: may_cache, but false if another reader has the
 * inode open. With passthrough, the file then gets the backing file of the other reader's file,
 * because the kernel allows only one backing file for an inode. */
static int list_file(struct label_file *file, bool may_cache, bool *ret_cache)
{
	struct session *session = file->open.session;
	LOCK_SCOPE(&session->lock);
	const struct open_file *other =
		open_files_of(&session->open_files, file->open.number);
	*ret_cache = may_cache && !other;
	if (other && session->mount.passes_through)
		file->open.backing = other->backing;
	return open_file_list_locked(&file->open);
}

/* Answers the open of a label. automatic: the job has `io = auto`. rolls: the file is in current/,
 * where its label may change. */
static void open_file(const struct request *request, struct label_file *file,
	bool automatic, bool rolls)
{
	struct session *session = request->session;
	struct fuse_file_info fi = request->fi;
	bool fixed = session->mount.passes_through && !rolls, cache;
	file->open.backing = automatic && fixed ? text_backing(session, file) : 0;
	int err = list_file(file, automatic && !fixed, &cache);
	if (err) {
		open_file_drop(&file->open);
		reply_error(request->req, err);
		return;
	}
	fi.fh = file->open.handle;
	fi.keep_cache = !file->open.backing && cache && store(file);
	fi.direct_io = !fi.keep_cache;
	err = open_file_keep(&file->open);
	if (err)
		reply_error(request->req, err);
	else
		err = reply_open(request->req, &fi, file->open.backing);
	if (err)
		open_file_undo(&file->open);
}

static struct label_file *file_new(const struct request *request, uint64_t handle)
{
	struct label_file *file = calloc(1, sizeof(*file));
	if (file)
		open_file_init(&file->open, request, handle);
	return file;
}

void label_file_opened(const struct request *request, struct sched_job *job,
	uint32_t epoch, uint32_t label)
{
	struct inode inode = request->inode;
	struct label_file *file = file_new(request, handle_new(epoch));
	if (!file) {
		reply_error(request->req, -ENOMEM);
		return;
	}
	file->bytes = label_bytes_of(job, epoch);
	file->label = label;
	uint32_t fixed;
	open_file(request, file, sched_job_config(job)->io == IO_AUTO,
		inode.epoch == INODE_CURRENT &&
			!sched_label(
				job, inode_sched_epoch(inode), inode.position, &fixed));
}

int label_file_outlives(const struct request *request, struct open_file **ret)
{
	struct label_file *file = file_new(request, request->fi.fh);
	*ret = &file->open;
	return file ? 0 : -ENOMEM;
}

static void answer_read(const struct request *request, uint32_t label, uint32_t bytes)
{
	char text[LABEL_BYTES];
	label_print(label, bytes, text);
	reply_text(request, text, bytes);
}

void label_file_read(const struct request *request, struct open_file *open)
{
	const struct label_file *file = (const struct label_file *)open;
	answer_read(request, file->label, file->bytes);
}

void label_file_read_again(
	const struct request *request, struct sched_job *job, uint32_t label)
{
	answer_read(request, label, label_bytes_of(job, SCHED_CURRENT));
}

void label_texts_free(struct session *session)
{
	struct label_text *text, *next;
	LOCK_SCOPE(&session->lock);
	HASH_ITER (hash, session->label_texts, text, next) {
		HASH_DELETE(hash, session->label_texts, text);
		free(text);
	}
}
