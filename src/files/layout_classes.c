// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/layout.h"
#include "files/layout_flat.h"
#include "sched/jobs.h"

#include <errno.h>
#include <string.h>

/*
 * The layout "classes": CLASS/NNNNNNNN.<extension>, counted from 0 in each class. The directory of
 * a class is INODE_SHARD with the label as position. A class without selected samples has no
 * directory, because readers such as torchvision's ImageFolder refuse empty directories. There are
 * no label files.
 *
 * After a rescan a name may stand for another position. So each inode contains the version of the
 * names at its look-up. A request for an inode of an older version fails with -ESTALE, and the
 * kernel looks up the path again.
 */

static uint32_t n_labels(const struct sched_edition *edition)
{
	return dataset_classes(edition->dataset);
}

static uint32_t n_samples(const struct sched_edition *edition, uint32_t label)
{
	return label < n_labels(edition)
		       ? edition->label_begin[label + 1] - edition->label_begin[label]
		       : 0;
}

static struct inode class_inode(
	const struct sched_edition *edition, struct inode directory, uint32_t label)
{
	directory.kind = INODE_SHARD;
	directory.names = edition->names;
	directory.position = label;
	return directory;
}

static struct inode sample_inode(
	const struct sched_edition *edition, struct inode directory, uint32_t number)
{
	directory.kind = INODE_SAMPLE;
	directory.names = edition->names;
	directory.position = edition->label_begin[directory.position] + number;
	return directory;
}

static uint64_t entries(struct sched_job *job, struct inode directory)
{
	auto_edition *edition = sched_edition(job, inode_sched_epoch(directory));
	return directory.kind == INODE_EPOCH ? n_labels(edition)
					     : n_samples(edition, directory.position);
}

static bool entry(struct sched_job *job, struct inode directory, uint64_t number,
	struct layout_entry *ret)
{
	auto_edition *edition = sched_edition(job, inode_sched_epoch(directory));
	if (directory.kind == INODE_SHARD) {
		struct flat_name name = {INODE_SAMPLE, (uint32_t)number};
		if (name.position >= n_samples(edition, directory.position))
			return false;
		ret->inode = sample_inode(edition, directory, name.position);
		if (layout_skips(job, directory, ret->inode.position, 1))
			return false;
		flat_print(name, sched_job_config(job), ret->name);
		return true;
	}
	uint32_t label = (uint32_t)number;
	uint32_t n = n_samples(edition, label);
	if (n == 0 || layout_skips(job, directory, edition->label_begin[label], n))
		return false;
	ret->inode = class_inode(edition, directory, label);
	snprintf(ret->name, sizeof(ret->name), "%s",
		dataset_class_name(edition->dataset, label));
	return true;
}

static int find_class(const struct sched_edition *edition, struct inode directory,
	const char *name, struct inode *ret)
{
	uint32_t label = dataset_find_class(edition->dataset, name);
	*ret = class_inode(edition, directory, label);
	return n_samples(edition, label) > 0 ? 0 : -ENOENT;
}

static int lookup(struct sched_job *job, struct inode directory, const char *text,
	struct inode *ret)
{
	auto_edition *edition = sched_edition(job, inode_sched_epoch(directory));
	struct flat_name name;
	if (directory.kind == INODE_EPOCH)
		return find_class(edition, directory, text, ret);
	if (!flat_parse(text, sched_job_config(job),
		    n_samples(edition, directory.position), &name) ||
		name.kind != INODE_SAMPLE)
		return -ENOENT;
	*ret = sample_inode(edition, directory, name.position);
	return 0;
}

static bool exists(struct sched_job *job, struct inode inode)
{
	auto_edition *edition = sched_edition(job, inode_sched_epoch(inode));
	if (inode.kind == INODE_SHARD)
		return n_samples(edition, inode.position) > 0;
	return inode.kind == INODE_SAMPLE && inode.position < edition->samples;
}

static uint32_t subdirectories(struct sched_job *job, struct inode directory)
{
	auto_edition *edition = sched_edition(job, inode_sched_epoch(directory));
	uint32_t n = 0;
	if (directory.kind == INODE_EPOCH)
		for (uint32_t label = 0; label < n_labels(edition); label++)
			n += n_samples(edition, label) > 0;
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
