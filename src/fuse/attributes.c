// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "files/data.h"
#include "files/layout.h"
#include "files/text.h"
#include "fuse/open_file_ops.h"
#include "fuse/owner.h"
#include "fuse/text_file.h"
#include "sched/jobs.h"
#include "sched/positions.h"

#include <errno.h>
#include <string.h>

/* Values of st_blksize, in bytes. */
#define BLOCK_SIZE 65536
#define LEAST_BLOCK 4096
#define MOST_BLOCK (UINT64_C(1) << 20)

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

/* Chooses st_blksize, which is the size of readers' buffers. PIL reads an image through a buffer:
 * if the file fits into the buffer, one read is enough. The kernel accepts only powers of two.
 * NumPy reads only the header through a buffer, so arrays get LEAST_BLOCK. Composites get
 * BLOCK_SIZE, which is less than a large image gets, because a reader that buffers a part of a
 * shard opens all samples in that part. */
static blksize_t block_size(
	const struct job_config *config, struct inode inode, uint64_t size)
{
	uint64_t block = LEAST_BLOCK;
	if (size == 0 || inode_is_composite(inode.kind))
		return BLOCK_SIZE;
	if (config_holds_arrays(config->format))
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
	set_times(ret, session->mount.started);
}

void attributes_in_layout(struct session *session, struct sched_job *job,
	struct inode inode, struct stat *ret, double *ret_timeout)
{
	uint64_t size = 0;
	set_common(session, inode, ret);
	owner_show(session, job, ret);
	bool lasts = sizes_last(job, inode);
	/* If the size may differ between epochs, st_size is the size of the file that a reader has
	 * open, because the kernel never reads an open file beyond st_size. */
	bool known =
		!lasts && inode_is_sample(inode) && open_file_size(session, inode, &size);
	if (!known)
		known = layout_of(job)->size(session->sizes, job, inode, &size);
	if (inode_is_beside(inode.kind)) {
		known = open_file_size(session, inode, &size);
		lasts = false;
	}
	set_size(ret, known ? size : 0);
	ret->st_blksize = block_size(sched_job_config(job), inode, known ? size : 0);
	*ret_timeout = known && lasts ? FOREVER : 0;
}

/* Counts the job's directories of epochs. *ret_sum: a number that changes when an epoch's directory
 * or order file appears or disappears. */
static uint32_t count_epochs(struct sched_job *job, long *ret_sum)
{
	struct tree_range range = tree_range(job);
	uint32_t n = 0;
	*ret_sum = 0;
	for (uint32_t epoch = range.first; epoch < range.end; epoch++) {
		bool there = tree_has_epoch(job, &range, epoch);
		n += there;
		*ret_sum += there ? epoch + 1 : 0;
		*ret_sum += tree_has_order(job, &range, epoch) ? epoch + 1 : 0;
	}
	return n;
}

static void add_ns(struct timespec *time, uint64_t ns)
{
	*time = timespec_of_ns((uint64_t)timespec_ns(*time) + ns);
}

/* Sets the link count and the times of a job's directory. The kernel keeps a listing of the
 * directory as long as the modification time stays the same. So `sum`, which changes with the
 * listing, is added to the time. */
static void set_in_job(struct session *session, struct sched_job *job, struct stat *ret)
{
	struct timespec time = jobs_changed(session);
	long sum;
	ret->st_nlink += count_epochs(job, &sum) + 1; /* plus one for current/ */
	add_ns(&time, (uint64_t)sum);
	set_times(ret, time);
}

/* Sets the link count and the times of a directory in an epoch. The times change when the epoch's
 * files change: after a rescan, or when bad samples are left out. */
static void set_directory(struct session *session, struct sched_job *job,
	struct inode inode, struct stat *ret, double *ret_timeout)
{
	struct timespec time = session->mount.started;
	ret->st_nlink += layout_of(job)->subdirectories(job, inode);
	uint32_t edition = sched_edition_mark(job, inode_sched_epoch(inode));
	if (!sched_skips(job) && edition == 0) {
		*ret_timeout = FOREVER;
		return;
	}
	add_ns(&time, sched_skipped_mark(job, inode_sched_epoch(inode)) + edition);
	set_times(ret, time);
}

static int attributes_in_epoch(struct session *session, struct sched_job *job,
	struct inode inode, struct stat *ret, double *ret_timeout)
{
	int err = tree_check(job, inode);
	if (err)
		return err;
	if (tree_is_directory(inode.kind))
		set_directory(session, job, inode, ret, ret_timeout);
	else
		attributes_in_layout(session, job, inode, ret, ret_timeout);
	return 0;
}

static int attributes_in_job(struct session *session, struct inode inode,
	struct stat *ret, double *ret_timeout)
{
	auto_job *job = sched_job_find_id(session->context.sched, inode.job);
	if (!job)
		return -ENOENT;
	owner_show(session, job, ret);
	if (inode.kind != INODE_JOB)
		return attributes_in_epoch(session, job, inode, ret, ret_timeout);
	set_in_job(session, job, ret);
	return 0;
}

static int attributes_of_jobs(struct session *session, struct stat *ret)
{
	auto_free job_id *ids = NULL;
	size_t n;
	int err = sched_job_ids(session->context.sched, &ids, &n);
	if (err)
		return err;
	ret->st_nlink += n;
	set_times(ret, jobs_changed(session));
	return 0;
}

static int attributes_of_data(
	struct session *session, struct inode inode, struct stat *ret)
{
	uint32_t subdirectories;
	int err = data_subdirectories(&session->context, inode, &subdirectories);
	ret->st_nlink += subdirectories;
	set_times(ret, jobs_changed(session));
	return err;
}

static int attributes_of_link(
	struct session *session, struct inode inode, struct stat *ret)
{
	char target[DATA_TARGET];
	int err = data_target(&session->context, inode, target);
	if (!err)
		set_size(ret, strlen(target));
	return err;
}

static bool changes_by_itself(enum inode_kind kind)
{
	return kind == INODE_STATS || kind == INODE_STATS_JSON || kind == INODE_METRICS ||
	       kind == INODE_DASHBOARD || kind == INODE_JOB_STATUS ||
	       kind == INODE_JOB_STATE || kind == INODE_EPOCH_ORDER;
}

static void show_owner_of_text(
	struct session *session, struct inode inode, struct stat *ret)
{
	auto_job *job = owner_is_job(inode.kind)
				? sched_job_find_id(session->context.sched, inode.job)
				: NULL;
	if (job)
		owner_show(session, job, ret);
}

static int attributes_of_text(
	struct session *session, struct inode inode, bool render, struct stat *ret)
{
	struct timespec now;
	uint64_t size =
		inode.kind == INODE_EPOCH_ORDER
			? order_text_known_size(session->orders, inode_pack(inode))
			: 0;
	int err = render ? text_file_size(session, inode, &size) : 0;
	if (err)
		return err;
	clock_gettime(CLOCK_REALTIME, &now);
	if (changes_by_itself(inode.kind))
		set_times(ret, now);
	set_size(ret, size);
	show_owner_of_text(session, inode, ret);
	return 0;
}

bool attributes_take_long(struct session *session, struct inode inode, bool render)
{
	if (inode.kind == INODE_EPOCH_ORDER || inode.kind == INODE_DASHBOARD)
		return render;
	if (!inode_is_sample(inode) && inode.kind != INODE_EPOCH &&
		inode.kind != INODE_SHARD)
		return false;
	auto_job *job = sched_job_find_id(session->context.sched, inode.job);
	return job && sizes_are_saved(job, inode);
}

static bool has_dataset(struct session *session, uint32_t number)
{
	struct dataset *dataset = sched_dataset_hold(session->context.sched, number);
	bool found = dataset != NULL;
	dataset_close(&dataset);
	return found;
}

static void attributes_of_datasets(struct session *session, struct stat *ret)
{
	struct timespec time = session->mount.started;
	uint64_t mark;
	uint32_t n = sched_datasets(session->context.sched, &mark);
	for (uint32_t i = 0; i < n; i++)
		ret->st_nlink += has_dataset(session, i);
	add_ns(&time, mark);
	set_times(ret, time);
}

int attributes_get(struct session *session, struct inode inode, bool render,
	struct stat *ret, double *ret_timeout)
{
	set_common(session, inode, ret);
	*ret_timeout = 0;
	if (text_is(inode.kind))
		return attributes_of_text(session, inode, render, ret);
	switch (inode.kind) {
	case INODE_ROOT:
		ret->st_nlink += 3;
		*ret_timeout = FOREVER;
		return 0;
	case INODE_DATASETS:
		attributes_of_datasets(session, ret);
		return 0;
	case INODE_DATASET:
		return has_dataset(session, inode.job) ? 0 : -ENOENT;
	case INODE_JOBS:
		return attributes_of_jobs(session, ret);
	case INODE_DATA:
	case INODE_DATA_DIRECTORY:
		return attributes_of_data(session, inode, ret);
	case INODE_DATA_LINK:
		*ret_timeout = FOREVER;
		return attributes_of_link(session, inode, ret);
	default:
		return attributes_in_job(session, inode, ret, ret_timeout);
	}
}
