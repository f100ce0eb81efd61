// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "fuse/fuse_internal.h"
#include "sched/jobs.h"

#include <errno.h>

/* Returns FUSE_ROOT_ID for the directories above the root of a job's mount, too, because the mount
 * does not show these directories. */
uint64_t session_number(const struct session *session, struct inode inode)
{
	bool outside = inode.kind == INODE_ROOT || inode.kind == INODE_JOBS;
	if (session->root.kind == INODE_JOB && (outside || inode.kind == INODE_JOB))
		return FUSE_ROOT_ID;
	return inode_pack(inode);
}

int session_inode(const struct session *session, uint64_t number, struct inode *ret)
{
	if (number == FUSE_ROOT_ID) {
		*ret = session->root;
		return 0;
	}
	if (!inode_unpack(number, ret))
		return -ENOENT;
	return session->root.kind == INODE_JOB && ret->job != session->root.job ? -ENOENT
										: 0;
}

void session_forget_name(const struct session *session, struct inode directory,
	const char *name, size_t bytes)
{
	fuse_lowlevel_notify_inval_entry(
		session->fuse, session_number(session, directory), name, bytes);
}

/* Tells whether reads go through the page cache. With `io = auto`, only reads of batches do,
 * because readers map batches, and only if the kernel can't map files that bypass the page
 * cache. */
static bool is_cached(const struct session *session, const struct sched_job *job)
{
	const struct job_config *config = sched_job_config(job);
	return config->io == IO_CACHED ||
	       (config->io == IO_AUTO && config->layout == LAYOUT_BATCH &&
		       !session->mount.maps_direct);
}

bool session_is_mappable(const struct session *session, const struct sched_job *job)
{
	return session->mount.maps_direct || session->mount.passes_through ||
	       is_cached(session, job);
}

/* Sets keep_cache only for files whose bytes are the same at the next open, because this open then
 * uses the bytes in the page cache. A file of current/ may have other samples at its next open. */
void session_set_io(const struct session *session, const struct sched_job *job,
	struct inode inode, struct fuse_file_info *fi)
{
	bool cached = is_cached(session, job);
	fi->direct_io = !cached;
	fi->keep_cache = cached && inode.epoch != INODE_CURRENT;
}

void session_hold(struct session *session)
{
	ensure(session_try_hold(session));
}

bool session_try_hold(struct session *session)
{
	LOCK_SCOPE(&session->lock);
	if (session->ending)
		return false;
	session->holds++;
	return true;
}

void session_unhold(struct session *session)
{
	LOCK_SCOPE(&session->lock);
	ensure(session->holds > 0);
	if (--session->holds == 0)
		pthread_cond_broadcast(&session->unheld);
}

bool session_wait_unheld(struct session *session)
{
	LOCK_SCOPE(&session->lock);
	session->ending = true;
	while (session->holds > 0 && !session->stopping)
		lock_wait(&session->lock, &session->unheld);
	return !session->stopping;
}

void session_stop_waiting(struct session *session)
{
	LOCK_SCOPE(&session->lock);
	session->stopping = true;
	pthread_cond_broadcast(&session->unheld);
}
