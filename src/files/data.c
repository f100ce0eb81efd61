// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/compare.h"
#include "base/ensure.h"
#include "base/rng.h"
#include "files/data.h"
#include "files/tree.h"
#include "sched/jobs.h"

#include <errno.h>
#include <string.h>

#define HASH_BITS 58 /* bits of an inode number, without the kind */

/* Returns a subdirectory's hash. hash: the parent's hash; `name` has n bytes. */
static uint64_t hash_below(uint64_t hash, const char *name, size_t n)
{
	return fnv_add(fnv_add(hash, "/", 1), name, n) & ((UINT64_C(1) << HASH_BITS) - 1);
}

static uint64_t hash_of(struct inode directory)
{
	if (directory.kind == INODE_DATA)
		return FNV_BASIS;
	return (uint64_t)directory.job << 44 | (uint64_t)directory.epoch << 30 |
	       (uint64_t)directory.names << 28 | directory.position;
}

static struct inode directory_inode(uint64_t hash)
{
	return (struct inode){.kind = INODE_DATA_DIRECTORY,
		.job = hash >> 44 & INODE_MAX_JOB,
		.epoch = hash >> 30 & INODE_MAX_EPOCH,
		.names = hash >> 28 & INODE_MAX_NAMES,
		.position = hash & INODE_MAX_POSITION};
}

struct data_step data_first_step(const char *path)
{
	size_t n = strcspn(path, "/");
	return (struct data_step){.hash = FNV_BASIS,
		.name = path,
		.bytes = n,
		.depth = 1,
		.last = path[n] == '\0'};
}

bool data_next_step(struct data_step *step)
{
	if (step->last)
		return false;
	step->hash = hash_below(step->hash, step->name, step->bytes);
	step->name += step->bytes + 1;
	step->bytes = strcspn(step->name, "/");
	step->depth++;
	step->last = step->name[step->bytes] == '\0';
	return true;
}

struct inode data_step_directory(const struct data_step *step)
{
	return step->depth > 1 ? directory_inode(step->hash)
			       : (struct inode){.kind = INODE_DATA};
}

/* Finds the step of the job's path that lies in the directory with the hash `directory`. Returns
 * false if no step of the path lies there. */
static bool find_step(struct sched_job *job, uint64_t directory, struct data_step *ret)
{
	const char *path = sched_job_config(job)->path;
	if (!path)
		return false;
	*ret = data_first_step(path);
	do {
		if (ret->hash == directory)
			return true;
	} while (data_next_step(ret));
	return false;
}

static void fill_entry(
	struct sched_job *job, const struct data_step *step, struct data_entry *ret)
{
	ensure(step->bytes < DATA_NAME);
	memcpy(ret->name, step->name, step->bytes);
	ret->name[step->bytes] = '\0';
	ret->number = sched_job_id(job);
	if (step->last)
		ret->inode = (struct inode){.kind = INODE_DATA_LINK,
			.job = sched_job_id(job),
			.epoch = step->depth};
	else
		ret->inode =
			directory_inode(hash_below(step->hash, step->name, step->bytes));
}

static bool has_entry(const struct data_entry *entries, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(entries[i].name, name) == 0)
			return true;
	return false;
}

/* Lists the entries of the directory. If several jobs have an entry of the same name, lists the
 * entry of the job with the smallest id. After an error *ret_n is 0. The caller frees *ret, also
 * after an error. */
static int collect(const struct files_context *context, struct inode directory,
	struct data_entry **ret, size_t *ret_n)
{
	auto_free job_id *ids = NULL;
	size_t n;
	*ret = NULL;
	*ret_n = 0;
	int err = sched_job_ids(context->sched, &ids, &n);
	if (err)
		return err;
	struct data_entry *entries = *ret = calloc(n + 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	qsort(ids, n, sizeof(*ids), compare_u32);
	for (size_t i = 0; i < n; i++) {
		auto_job *job = sched_job_find_id(context->sched, ids[i]);
		struct data_step step;
		if (!job || !find_step(job, hash_of(directory), &step))
			continue;
		fill_entry(job, &step, &entries[*ret_n]);
		if (!has_entry(entries, *ret_n, entries[*ret_n].name))
			++*ret_n;
	}
	/* -ENOENT: no job needs the directory any more. data/ always exists. */
	return *ret_n == 0 && directory.kind == INODE_DATA_DIRECTORY ? -ENOENT : 0;
}

int data_lookup(const struct files_context *context, struct inode directory,
	const char *name, struct inode *ret)
{
	auto_free struct data_entry *entries;
	size_t n;
	int err = collect(context, directory, &entries, &n);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(entries[i].name, name) != 0)
			continue;
		*ret = entries[i].inode;
		return 0;
	}
	return err ? err : -ENOENT;
}

int data_entry(const struct files_context *context, struct inode directory,
	uint64_t number, struct data_entry *ret)
{
	auto_free struct data_entry *entries;
	size_t n;
	int err = collect(context, directory, &entries, &n);
	for (size_t i = 0; i < n; i++) {
		if (entries[i].number < number)
			continue;
		*ret = entries[i];
		return 1;
	}
	return err;
}

int data_subdirectories(
	const struct files_context *context, struct inode directory, uint32_t *ret)
{
	auto_free struct data_entry *entries;
	size_t n;
	int err = collect(context, directory, &entries, &n);
	*ret = 0;
	for (size_t i = 0; i < n; i++)
		*ret += tree_is_directory(entries[i].inode.kind);
	return err;
}

int data_target(
	const struct files_context *context, struct inode link, char ret[DATA_TARGET])
{
	auto_job *job = sched_job_find_id(context->sched, link.job);
	size_t n = 0;
	if (!job)
		return -ENOENT;
	for (uint32_t i = 0; i < link.epoch && n + 3 < DATA_TARGET; i++, n += 3)
		memcpy(ret + n, "../", 3);
	int rest = snprintf(ret + n, DATA_TARGET - n, "jobs/%s/" TREE_CURRENT,
		sched_job_config(job)->name);
	return rest > 0 && (size_t)rest < DATA_TARGET - n ? 0 : -ENOENT;
}
