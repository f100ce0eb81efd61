// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/layout.h"
#include "files/layout_flat.h"

#include <errno.h>
#include <string.h>

/*
 * The layout "classes": CLASS/NNNNNNNN.<extension>, counted from 0 in each class. The
 * directory of a class is INODE_SHARD with the label as position. A class without
 * selected samples has no directory, since readers as torchvision's ImageFolder refuse
 * empty ones. There are no label files: the directory tells the label.
 */

static uint32_t n_samples(struct sched_job *job, uint32_t label)
{
	return sched_job_label_begin(job, label + 1) - sched_job_label_begin(job, label);
}

static uint32_t n_labels(struct sched_job *job)
{
	return dataset_classes(sched_job_dataset(job));
}

static bool is_class(struct sched_job *job, uint32_t label)
{
	return label < n_labels(job) && n_samples(job, label) > 0;
}

static struct inode class_inode(struct inode directory, uint32_t label)
{
	directory.kind = INODE_SHARD;
	directory.position = label;
	return directory;
}

static struct inode sample_inode(
	struct sched_job *job, struct inode directory, uint32_t number)
{
	uint32_t begin = sched_job_label_begin(job, directory.position);
	directory.kind = INODE_SAMPLE;
	directory.position = begin + number;
	return directory;
}

static uint64_t entries(struct sched_job *job, struct inode directory)
{
	return directory.kind == INODE_EPOCH ? n_labels(job)
					     : n_samples(job, directory.position);
}

static bool entry(struct sched_job *job, struct inode directory, uint64_t number,
	struct layout_entry *ret)
{
	if (directory.kind == INODE_SHARD) {
		struct flat_name name = {INODE_SAMPLE, (uint32_t)number};
		ret->inode = sample_inode(job, directory, name.position);
		if (layout_skips(job, directory, ret->inode.position, 1))
			return false;
		flat_print(name, sched_job_config(job)->extension, ret->name);
		return true;
	}
	uint32_t label = (uint32_t)number;
	if (!is_class(job, label) ||
		layout_skips(job, directory, sched_job_label_begin(job, label),
			n_samples(job, label)))
		return false;
	ret->inode = class_inode(directory, label);
	snprintf(ret->name, sizeof(ret->name), "%s",
		dataset_class_name(sched_job_dataset(job), label));
	return true;
}

static int find_class(struct sched_job *job, struct inode directory, const char *name,
	struct inode *ret)
{
	for (uint32_t label = 0; label < n_labels(job); label++) {
		if (strcmp(dataset_class_name(sched_job_dataset(job), label), name) != 0)
			continue;
		*ret = class_inode(directory, label);
		return is_class(job, label) ? 0 : -ENOENT;
	}
	return -ENOENT;
}

static int lookup(struct sched_job *job, struct inode directory, const char *text,
	struct inode *ret)
{
	struct flat_name name;
	if (directory.kind == INODE_EPOCH)
		return find_class(job, directory, text, ret);
	if (!flat_parse(text, sched_job_config(job)->extension,
		    n_samples(job, directory.position), &name) ||
		name.kind != INODE_SAMPLE)
		return -ENOENT;
	*ret = sample_inode(job, directory, name.position);
	return 0;
}

static bool exists(struct sched_job *job, struct inode inode)
{
	if (inode.kind == INODE_SHARD)
		return is_class(job, inode.position);
	return inode.kind == INODE_SAMPLE && inode.position < sched_job_samples(job);
}

static uint32_t subdirectories(struct sched_job *job, struct inode directory)
{
	uint32_t n = 0;
	if (directory.kind == INODE_EPOCH)
		for (uint32_t label = 0; label < n_labels(job); label++)
			n += is_class(job, label);
	return n;
}

const struct layout layout_classes = {
	.entries = entries,
	.entry = entry,
	.lookup = lookup,
	.exists = exists,
	.subdirectories = subdirectories,
	.size = sizes_of_position,
};
