// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/file_requests.h"
#include "base/log.h"
#include "fuse/composite/composite_file.h"
#include "fuse/handover.h"
#include "fuse/open_file_ops.h"
#include "fuse/opening.h"
#include "fuse/other_file.h"
#include "fuse/owner.h"
#include "fuse/passthrough.h"
#include "fuse/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

/* A killed engine may have registered backing files without noting their numbers, so the kernel
 * also has to forget this many numbers after the last noted one. */
#define UNNOTED 64

static const struct open_file_ops *ops_of(struct inode inode)
{
	if (inode_is_sample(inode))
		return &opening_sample_ops;
	if (inode_is_text_of_sample(inode.kind))
		return &opening_text_ops;
	if (inode_is_composite(inode.kind))
		return &composite_file_ops;
	switch (inode.kind) {
	case INODE_LABEL:
		return &opening_label_ops;
	case INODE_OTHER:
		return &other_file_ops;
	case INODE_EPOCH_ORDER:
		return &order_file_ops;
	default:
		return &text_file_ops;
	}
}

/* Tells whether a thread of the daemon has sent the request. If so, the open has to fail: otherwise
 * the daemon would wait for itself, and consume samples. The daemon sends such requests if a
 * dataset lies on the daemon's own mount, and the scan has not noticed this. */
static bool is_own_thread(const struct request *request)
{
	return !request->session->mount.other_pids &&
	       tgkill(getpid(), fuse_req_ctx(request->req)->pid, 0) == 0;
}

static int may_open(const struct request *request)
{
	if ((request->fi.flags & O_ACCMODE) != O_RDONLY)
		return -EROFS;
	if (tree_is_directory(request->inode.kind))
		return -EISDIR;
	int err = owner_check(request->req, request->inode, OWNER_READ);
	if (err)
		return err;
	return is_own_thread(request) ? -EDEADLK : 0;
}

void file_open(struct request *request)
{
	int err = may_open(request);
	request->ops = ops_of(request->inode);
	if (err)
		reply_error(request->req, err);
	else
		request->ops->open(request);
}

void file_read(struct request *request)
{
	request->ops = ops_of(request->inode);
	open_file_read(request);
}

void file_release(struct session *session, uint64_t number, uint64_t handle)
{
	struct request request = {.session = session, .fi = {.fh = handle}};
	if (open_file_close(session, handle, false) ||
		session_inode(session, number, &request.inode) != 0)
		return;
	request.ops = ops_of(request.inode);
	if (request.ops->consume)
		request.ops->consume(&request);
}

static int list_outlived(struct session *session, struct kept_open *kept)
{
	struct request request = {
		.session = session, .fi = {.fh = atomic_load(&kept->handle)}};
	int err = session_inode(session, kept->inode, &request.inode);
	if (err)
		return err;
	request.ops = ops_of(request.inode);
	return open_file_outlives(&request, kept);
}

static bool is_used(struct session *session, int backing)
{
	LOCK_SCOPE(&session->lock);
	return handover_has_locked(session, backing);
}

static void forget_unused(struct session *session)
{
	int last = atomic_load(&kept()->last_backing);
	for (uint32_t i = 0; i < KEPT_FILES; i++) {
		int backing = atomic_load(&kept()->files[i]);
		if (backing && !is_used(session, backing))
			passthrough_forget(session, backing);
	}
	for (int i = 1; i <= UNNOTED; i++)
		(void)passthrough_try_forget(session, last + i);
}

void files_go_on(struct session *session)
{
	struct kept_open *kept = NULL;
	uint64_t number, handle;
	unsigned n = 0;
	while ((kept = handover_next(session, kept))) {
		int err = kept->backing ? list_outlived(session, kept) : 0;
		n++;
		if (err)
			log_warn("a sample's file that the previous engine opened can't "
				 "be noted: %s; opens of this sample may fail until the "
				 "file is closed",
				strerror(-err));
	}
	/* Carries out the releases that engine_failed.c has answered. */
	while (kept_close_take(handover_mount(session->place), &number, &handle))
		file_release(session, number, handle);
	if (session->mount.passes_through)
		forget_unused(session);
	if (n)
		log_info("%u files that the previous engine opened are still open", n);
}
