// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/data.h"
#include "files/layout.h"
#include "files/tree.h"
#include "sched/gauges.h"
#include "sched/jobs.h"
#include "sched/positions.h"

#include <errno.h>
#include <string.h>

const struct tree_entry tree_entries[] = {
	{"README", INODE_README, INODE_ROOT},
	{"stats", INODE_STATS, INODE_ROOT},
	{"stats.json", INODE_STATS_JSON, INODE_ROOT},
	{"metrics", INODE_METRICS, INODE_ROOT},
	{"dashboard.html", INODE_DASHBOARD, INODE_ROOT},
	{"datasets", INODE_DATASETS, INODE_ROOT},
	{"jobs", INODE_JOBS, INODE_ROOT},
	{"data", INODE_DATA, INODE_ROOT},
	{"info", INODE_DATASET_INFO, INODE_DATASET},
	{"classes.txt", INODE_DATASET_CLASSES, INODE_DATASET},
	{"bad", INODE_DATASET_BAD, INODE_DATASET},
	{"job.ini", INODE_JOB_INI, INODE_JOB},
	{"status", INODE_JOB_STATUS, INODE_JOB},
	{"classes.txt", INODE_JOB_CLASSES, INODE_JOB},
	{"state", INODE_JOB_STATE, INODE_JOB},
};
const size_t tree_n_entries = sizeof(tree_entries) / sizeof(tree_entries[0]);

bool tree_is_directory(enum inode_kind kind)
{
	return tree_type(kind) == S_IFDIR;
}

mode_t tree_type(enum inode_kind kind)
{
	switch (kind) {
	case INODE_ROOT:
	case INODE_DATASETS:
	case INODE_DATASET:
	case INODE_JOBS:
	case INODE_JOB:
	case INODE_EPOCH:
	case INODE_SHARD:
	case INODE_DATA:
	case INODE_DATA_DIRECTORY:
		return S_IFDIR;
	case INODE_DATA_LINK:
		return S_IFLNK;
	default:
		return S_IFREG;
	}
}

struct inode tree_parent(struct inode inode)
{
	switch (inode.kind) {
	case INODE_DATASET:
		return (struct inode){.kind = INODE_DATASETS};
	case INODE_JOB:
		return (struct inode){.kind = INODE_JOBS};
	case INODE_EPOCH:
		return (struct inode){.kind = INODE_JOB, .job = inode.job};
	case INODE_SHARD:
		return (struct inode){
			.kind = INODE_EPOCH, .job = inode.job, .epoch = inode.epoch};
	default:
		return (struct inode){.kind = INODE_ROOT};
	}
}

uint32_t tree_epochs(struct sched_job *job)
{
	return config_job_epochs(sched_job_config(job));
}

struct tree_range tree_range(struct sched_job *job)
{
	struct sched_job_status status;
	uint32_t keep = sched_job_config(job)->keep_epochs;
	sched_job_status(job, &status);
	uint32_t next = status.started ? status.epoch + 1 : 0;
	bool more = next < tree_epochs(job);
	return (struct tree_range){
		.first = status.epoch > keep ? status.epoch - keep : 0,
		.end = next + more,
		.running = status.running ? status.epoch : UINT32_MAX,
		.next = more ? next : UINT32_MAX,
	};
}

bool tree_has_order(struct sched_job *job, const struct tree_range *range, uint32_t epoch)
{
	return epoch == range->running || sched_has_order(job, epoch);
}

bool tree_has_epoch(struct sched_job *job, const struct tree_range *range, uint32_t epoch)
{
	return epoch == range->next || tree_has_order(job, range, epoch);
}

int tree_check(struct sched_job *job, struct inode inode)
{
	if (inode.epoch >= tree_epochs(job) && inode.epoch != INODE_CURRENT)
		return -ENOENT;
	if (inode.kind == INODE_EPOCH)
		return 0;
	if (inode.names != sched_job_names(job, inode_sched_epoch(inode)))
		return -ESTALE;
	return layout_of(job)->exists(job, inode) ? 0 : -ENOENT;
}

static bool find_entry(struct inode parent, const char *name, struct inode *ret)
{
	for (size_t i = 0; i < tree_n_entries; i++) {
		const struct tree_entry *entry = &tree_entries[i];
		if (entry->parent != parent.kind || strcmp(entry->name, name) != 0)
			continue;
		*ret = (struct inode){.kind = entry->kind, .job = parent.job};
		return true;
	}
	return false;
}

static int find_job(
	const struct files_context *context, const char *name, struct inode *ret)
{
	auto_job *job = sched_job_find(context->sched, name);
	if (!job)
		return -ENOENT;
	*ret = (struct inode){.kind = INODE_JOB, .job = sched_job_id(job)};
	return 0;
}

/* Finds the inode of current, epoch-NNNN or epoch-NNNN.order. */
static int find_epoch(struct sched_job *job, const char *name, struct inode *ret)
{
	char directory[TREE_NAME], order[TREE_NAME];
	unsigned epoch;
	*ret = (struct inode){
		.kind = INODE_EPOCH, .job = sched_job_id(job), .epoch = INODE_CURRENT};
	if (strcmp(name, TREE_CURRENT) == 0)
		return 0;
	if (sscanf(name, "epoch-%5u", &epoch) != 1 || epoch >= tree_epochs(job))
		return -ENOENT;
	snprintf(directory, sizeof(directory), "epoch-%04u", epoch);
	snprintf(order, sizeof(order), "epoch-%04u.order", epoch);
	*ret = (struct inode){.job = sched_job_id(job), .epoch = epoch};
	struct tree_range range = tree_range(job);
	/* All epochs of layout = mirror have the same files, and exist at any time. */
	bool any = sched_job_config(job)->layout == LAYOUT_MIRROR;
	if (strcmp(name, directory) == 0 && (any || tree_has_epoch(job, &range, epoch)))
		ret->kind = INODE_EPOCH;
	else if (strcmp(name, order) == 0 && tree_has_order(job, &range, epoch))
		ret->kind = INODE_EPOCH_ORDER;
	else
		return -ENOENT;
	return 0;
}

static int find_in_job(const struct files_context *context, struct inode parent,
	const char *name, struct inode *ret)
{
	auto_job *job = sched_job_find_id(context->sched, parent.job);
	if (!job)
		return -ENOENT;
	if (parent.kind == INODE_JOB)
		return find_epoch(job, name, ret);
	int err = tree_check(job, parent);
	return err ? err : layout_of(job)->lookup(job, parent, name, ret);
}

int tree_lookup(const struct files_context *context, struct inode parent,
	const char *name, struct inode *ret)
{
	if (find_entry(parent, name, ret))
		return 0;
	switch (parent.kind) {
	case INODE_DATASETS:
		*ret = (struct inode){.kind = INODE_DATASET};
		return sched_dataset_find(context->sched, name, &ret->job);
	case INODE_JOBS:
		return find_job(context, name, ret);
	case INODE_JOB:
	case INODE_EPOCH:
	case INODE_SHARD:
		return find_in_job(context, parent, name, ret);
	case INODE_DATA:
	case INODE_DATA_DIRECTORY:
		return data_lookup(context, parent, name, ret);
	default:
		return -ENOENT;
	}
}
