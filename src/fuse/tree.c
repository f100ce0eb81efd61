// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/layout.h"
#include "fuse/composite_file.h"
#include "fuse/data.h"
#include "fuse/sample_file.h"
#include "fuse/fuse_internal.h"

#include <errno.h>
#include <string.h>

/* st_blksize is what readers take as the size of their buffers. */
#define BLOCK_SIZE 65536
#define LEAST_BLOCK 4096
#define MOST_BLOCK (UINT64_C(1) << 20)

const struct tree_entry tree_entries[] = {
	{"README", INODE_README, INODE_ROOT},
	{"stats", INODE_STATS, INODE_ROOT},
	{"stats.json", INODE_STATS_JSON, INODE_ROOT},
	{"metrics", INODE_METRICS, INODE_ROOT},
	{"datasets", INODE_DATASETS, INODE_ROOT},
	{"jobs", INODE_JOBS, INODE_ROOT},
	{"data", INODE_DATA, INODE_ROOT},
	{"info", INODE_DATASET_INFO, INODE_DATASET},
	{"classes.txt", INODE_DATASET_CLASSES, INODE_DATASET},
	{"job.ini", INODE_JOB_INI, INODE_JOB},
	{"status", INODE_JOB_STATUS, INODE_JOB},
	{"classes.txt", INODE_JOB_CLASSES, INODE_JOB},
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
	uint32_t epochs = sched_job_config(job)->epochs;
	return epochs < INODE_CURRENT ? epochs : INODE_CURRENT;
}

uint32_t tree_running_epoch(struct sched_job *job)
{
	struct sched_job_status status;
	sched_job_status(job, &status);
	return status.running ? status.epoch : UINT32_MAX;
}

bool tree_has_order(struct sched_job *job, uint32_t epoch, uint32_t running)
{
	return epoch == running || sched_has_order(job, epoch);
}

bool tree_in_epoch(struct sched_job *job, struct inode inode)
{
	if (inode.epoch >= tree_epochs(job) && inode.epoch != INODE_CURRENT)
		return false;
	return inode.kind == INODE_EPOCH || layout_of(job)->exists(job, inode);
}

/* --- lookup ------------------------------------------------------------------------- */

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

static int find_dataset(struct session *session, const char *name, struct inode *ret)
{
	for (size_t i = 0; i < session->context.n_datasets; i++) {
		if (strcmp(dataset_name(session->context.datasets[i]), name) != 0)
			continue;
		*ret = (struct inode){.kind = INODE_DATASET, .job = (uint32_t)i};
		return 0;
	}
	return -ENOENT;
}

static int find_job(struct session *session, const char *name, struct inode *ret)
{
	struct sched_job *job = sched_job_find(session->context.sched, name);
	if (!job)
		return -ENOENT;
	*ret = (struct inode){.kind = INODE_JOB, .job = sched_job_id(job)};
	sched_job_put(job);
	return 0;
}

/* current, epoch-NNNN and epoch-NNNN.order */
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
	if (strcmp(name, directory) == 0)
		ret->kind = INODE_EPOCH;
	else if (strcmp(name, order) == 0 &&
		 tree_has_order(job, epoch, tree_running_epoch(job)))
		ret->kind = INODE_EPOCH_ORDER;
	else
		return -ENOENT;
	return 0;
}

static int find_in_job(
	struct session *session, struct inode parent, const char *name, struct inode *ret)
{
	struct sched_job *job = sched_job_find_id(session->context.sched, parent.job);
	if (!job)
		return -ENOENT;
	int err = -ENOENT;
	if (parent.kind == INODE_JOB)
		err = find_epoch(job, name, ret);
	else if (tree_in_epoch(job, parent))
		err = layout_of(job)->lookup(job, parent, name, ret);
	sched_job_put(job);
	return err;
}

int tree_lookup(
	struct session *session, struct inode parent, const char *name, struct inode *ret)
{
	if (find_entry(parent, name, ret))
		return 0;
	switch (parent.kind) {
	case INODE_DATASETS:
		return find_dataset(session, name, ret);
	case INODE_JOBS:
		return find_job(session, name, ret);
	case INODE_JOB:
	case INODE_EPOCH:
	case INODE_SHARD:
		return find_in_job(session, parent, name, ret);
	case INODE_DATA:
	case INODE_DATA_DIRECTORY:
		return data_lookup(session, parent, name, ret);
	default:
		return -ENOENT;
	}
}

/* --- attributes --------------------------------------------------------------------- */

static struct timespec jobs_changed(struct session *session)
{
	LOCK_SCOPE(&session->lock);
	return session->jobs_changed;
}

static void set_size(struct stat *st, uint64_t size)
{
	st->st_size = (off_t)size;
	st->st_blocks = (blkcnt_t)((size + 511) / 512);
}

/*
 * PIL reads images through its buffer: one that holds the file takes one read. The kernel
 * knows powers of two only. NumPy reads a header through the buffer and then all again
 * past it, so that less is better; and who buffers a part of a shard binds what it reads.
 */
static blksize_t block_size(
	const struct job_config *config, struct inode inode, uint64_t size)
{
	uint64_t block = LEAST_BLOCK;
	if (size == 0 || composite_is(inode.kind))
		return BLOCK_SIZE;
	if (config->format == FORMAT_NPY || config->format == FORMAT_RAW)
		return LEAST_BLOCK;
	while (block < size && block < MOST_BLOCK)
		block *= 2;
	return (blksize_t)block;
}

static void set_times(struct stat *st, struct timespec time)
{
	st->st_atim = st->st_mtim = st->st_ctim = time;
}

static void set_common(
	const struct session *session, struct inode inode, struct stat *ret)
{
	mode_t type = tree_type(inode.kind);
	mode_t permissions = type == S_IFDIR ? 0555 : (type == S_IFLNK ? 0777 : 0444);
	*ret = (struct stat){.st_ino = session_number(session, inode),
		.st_mode = type | permissions,
		.st_nlink = type == S_IFDIR ? 2 : 1,
		.st_uid = session->uid,
		.st_gid = session->gid,
		.st_blksize = BLOCK_SIZE};
	set_times(ret, session->started);
}

void tree_layout_attributes(struct session *session, struct sched_job *job,
	struct inode inode, struct stat *ret, double *ret_timeout)
{
	uint64_t size = 0;
	set_common(session, inode, ret);
	bool known = layout_of(job)->size(session->sizes, job, inode, &size);
	set_size(ret, known ? size : 0);
	ret->st_blksize = block_size(sched_job_config(job), inode, known ? size : 0);
	bool lasts = known && sizes_last(sched_job_config(job), inode);
	*ret_timeout = lasts ? FOREVER : 0;
}

/*
 * The kernel keeps directory listings for as long as the modification time stays what it
 * was. So that of a job's directory tells which order files are there.
 */
static struct timespec job_changed(struct session *session, struct sched_job *job)
{
	struct timespec time = jobs_changed(session);
	uint32_t running = tree_running_epoch(job);
	for (uint32_t epoch = 0; epoch < tree_epochs(job); epoch++)
		if (tree_has_order(job, epoch, running))
			time.tv_nsec += epoch + 1;
	if (time.tv_nsec >= 1000000000) {
		time.tv_nsec -= 1000000000;
		time.tv_sec++;
	}
	return time;
}

static int attributes_in_epoch(struct session *session, struct sched_job *job,
	struct inode inode, struct stat *ret, double *ret_timeout)
{
	const struct layout *layout = layout_of(job);
	if (!tree_in_epoch(job, inode))
		return -ENOENT;
	if (tree_is_directory(inode.kind))
		ret->st_nlink += layout->subdirectories(job, inode);
	else
		tree_layout_attributes(session, job, inode, ret, ret_timeout);
	return 0;
}

/* The directory of a job, or what is below it. */
static int attributes_in_job(struct session *session, struct inode inode,
	struct stat *ret, double *ret_timeout)
{
	struct sched_job *job = sched_job_find_id(session->context.sched, inode.job);
	int err = 0;
	if (!job)
		return -ENOENT;
	if (inode.kind == INODE_JOB) {
		ret->st_nlink += tree_epochs(job) + 1;
		set_times(ret, job_changed(session, job));
		*ret_timeout = 0;
	} else {
		err = attributes_in_epoch(session, job, inode, ret, ret_timeout);
	}
	sched_job_put(job);
	return err;
}

static int attributes_of_jobs(
	struct session *session, struct stat *ret, double *ret_timeout)
{
	auto_free job_id *ids = NULL;
	size_t n;
	int err = sched_job_ids(session->context.sched, &ids, &n);
	if (err)
		return err;
	ret->st_nlink += n;
	set_times(ret, jobs_changed(session));
	*ret_timeout = 0;
	return 0;
}

static int attributes_of_data(struct session *session, struct inode inode,
	struct stat *ret, double *ret_timeout)
{
	uint32_t subdirectories;
	int err = data_subdirectories(session, inode, &subdirectories);
	ret->st_nlink += subdirectories;
	set_times(ret, jobs_changed(session));
	*ret_timeout = 0;
	return err;
}

static int attributes_of_link(
	struct session *session, struct inode inode, struct stat *ret)
{
	char target[DATA_TARGET];
	int err = data_target(session, inode, target);
	if (!err)
		set_size(ret, strlen(target));
	return err;
}

static bool changes_by_itself(enum inode_kind kind)
{
	return kind == INODE_STATS || kind == INODE_STATS_JSON || kind == INODE_METRICS ||
	       kind == INODE_JOB_STATUS || kind == INODE_EPOCH_ORDER;
}

static int attributes_of_text(struct session *session, struct inode inode, bool render,
	struct stat *ret, double *ret_timeout)
{
	struct timespec now;
	uint64_t size = text_file_known_size(session, inode);
	int err = render ? text_file_size(session, inode, &size) : 0;
	if (err)
		return err;
	clock_gettime(CLOCK_REALTIME, &now);
	if (changes_by_itself(inode.kind))
		set_times(ret, now);
	set_size(ret, size);
	*ret_timeout = 0;
	return 0;
}

int tree_attributes(struct session *session, struct inode inode, bool render,
	struct stat *ret, double *ret_timeout)
{
	set_common(session, inode, ret);
	*ret_timeout = FOREVER;
	if (text_file_is(inode.kind))
		return attributes_of_text(session, inode, render, ret, ret_timeout);
	switch (inode.kind) {
	case INODE_ROOT:
		ret->st_nlink += 3;
		return 0;
	case INODE_DATASETS:
		ret->st_nlink += session->context.n_datasets;
		return 0;
	case INODE_DATASET:
		return inode.job < session->context.n_datasets ? 0 : -ENOENT;
	case INODE_JOBS:
		return attributes_of_jobs(session, ret, ret_timeout);
	case INODE_DATA:
	case INODE_DATA_DIRECTORY:
		return attributes_of_data(session, inode, ret, ret_timeout);
	case INODE_DATA_LINK:
		return attributes_of_link(session, inode, ret);
	default:
		return attributes_in_job(session, inode, ret, ret_timeout);
	}
}
