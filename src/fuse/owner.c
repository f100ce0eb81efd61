// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/owner.h"
#include "config/config_owner.h"
#include "sched/jobs.h"

#include <errno.h>

#define SOME_GROUPS 32

static bool is_one_of(const gid_t *groups, int n, gid_t group)
{
	for (int i = 0; i < n; i++)
		if (groups[i] == group)
			return true;
	return false;
}

/* Tells whether `group` is a further group of the process that sent the request. The request itself
 * contains only one group of the process. fuse_req_getgroups reads the others from /proc. */
static bool has_group(void *context, gid_t group)
{
	fuse_req_t req = context;
	gid_t some[SOME_GROUPS];
	const struct session *session = fuse_req_userdata(req);
	if (session->mount.other_pids)
		return false;
	int n = fuse_req_getgroups(req, SOME_GROUPS, some);
	if (n <= SOME_GROUPS)
		return is_one_of(some, n, group);
	auto_free gid_t *all = calloc((size_t)n, sizeof(*all));
	int now = all ? fuse_req_getgroups(req, n, all) : 0;
	return is_one_of(all, now < n ? now : n, group);
}

bool owner_is_job(enum inode_kind kind)
{
	switch (kind) {
	case INODE_JOB:
	case INODE_JOB_INI:
	case INODE_JOB_STATUS:
	case INODE_JOB_CLASSES:
	case INODE_JOB_STATE:
	case INODE_EPOCH_ORDER:
	case INODE_EPOCH:
	case INODE_SAMPLE:
	case INODE_PAIR:
	case INODE_LABEL:
	case INODE_SHARD:
	case INODE_JSON:
	case INODE_OTHER:
	case INODE_TAR:
	case INODE_BATCH:
	case INODE_BATCH_LABELS:
		return true;
	default:
		return inode_is_beside(kind);
	}
}

bool owner_is_checked(const struct session *session)
{
	return !session->mount.everybody && !session->private;
}

int owner_check(fuse_req_t req, struct inode inode, unsigned wanted)
{
	const struct session *session = fuse_req_userdata(req);
	const struct fuse_ctx *process = fuse_req_ctx(req);
	if (!owner_is_checked(session) || process->uid == 0 ||
		process->uid == session->uid || !owner_is_job(inode.kind))
		return 0;
	auto_job *job = sched_job_find_id(session->context.sched, inode.job);
	if (!job)
		return 0; /* the request itself will fail with ENOENT */
	struct config_user user = {.uid = process->uid,
		.gid = process->gid,
		.has_group = has_group,
		.context = req};
	if (inode.kind != INODE_JOB)
		wanted |= OWNER_SEARCH;
	return config_job_allows(sched_job_config(job), &user, wanted) ? 0 : -EACCES;
}

void owner_show(
	const struct session *session, const struct sched_job *job, struct stat *st)
{
	struct job_owner owner = config_job_owner(sched_job_config(job));
	if (session->mount.everybody)
		return;
	st->st_uid = owner.uid;
	st->st_gid = owner.gid;
	st->st_mode &= S_IFMT | owner.mode;
}
