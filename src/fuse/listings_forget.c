// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/layout.h"
#include "fuse/fuse_internal.h"
#include "sched/gauges.h"
#include "sched/jobs.h"

#include <string.h>

static void forget_listing(struct session *session, struct inode directory)
{
	fuse_lowlevel_notify_inval_inode(
		session->fuse, session_number(session, directory), 0, 0);
}

/* Makes the kernel forget the name of each class, which now leads to another inode. If only the
 * parent were forgotten, the kernel would keep a class that is a process's working directory. */
static void forget_classes(
	struct session *session, struct sched_job *job, struct inode directory)
{
	const struct layout *layout = layout_of(job);
	uint64_t n = layout->entries(job, directory);
	char name[TREE_NAME] = TREE_CURRENT;
	struct layout_entry entry;
	if (directory.epoch != INODE_CURRENT)
		snprintf(name, sizeof(name), "epoch-%04u", directory.epoch);
	session_forget_name(session, tree_parent(directory), name, strlen(name));
	for (uint64_t i = 0; i < n; i++)
		if (layout->entry(job, directory, i, &entry))
			session_forget_name(
				session, directory, entry.name, strlen(entry.name));
}

static void forget_listings(struct session *session, struct sched_job *job)
{
	struct sched_job_status status;
	sched_job_status(job, &status);
	const uint32_t epochs[] = {INODE_CURRENT, status.started ? status.epoch + 1 : 0};
	for (size_t i = 0; i < sizeof(epochs) / sizeof(epochs[0]); i++) {
		struct inode inode = {.kind = INODE_EPOCH,
			.job = sched_job_id(job),
			.epoch = epochs[i]};
		uint32_t n = layout_of(job)->subdirectories(job, inode);
		forget_listing(session, inode);
		if (sched_job_config(job)->layout == LAYOUT_CLASSES)
			forget_classes(session, job, inode);
		inode.kind = INODE_SHARD;
		for (; inode.position < n; inode.position++)
			forget_listing(session, inode);
	}
}

static void forget_of_job(
	struct session *session, struct sched_job *job, const char *dataset)
{
	bool mounted =
		session->root.kind != INODE_JOB || session->root.job == sched_job_id(job);
	if (mounted && strcmp(sched_job_config(job)->dataset, dataset) == 0)
		forget_listings(session, job);
}

void listings_forget(struct session *session, const char *dataset)
{
	auto_free job_id *ids = NULL;
	size_t n;
	if (sched_job_ids(session->context.sched, &ids, &n) != 0)
		return;
	for (size_t i = 0; i < n; i++) {
		auto_job *job = sched_job_find_id(session->context.sched, ids[i]);
		if (job)
			forget_of_job(session, job, dataset);
	}
}
