// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/lock.h"
#include "files/content_bytes.h"
#include "files/label.h"
#include "files/layout.h"
#include "files/sizes.h"
#include "sched/jobs.h"
#include "sched/positions.h"

#include <errno.h>
#include <sys/queue.h>

struct padded_size {
	SLIST_ENTRY(padded_size) link;
	job_id job;
	bool second; /* the size is for second files of pairs */
	uint64_t bytes;
};

struct sizes {
	struct lock lock;
	SLIST_HEAD(, padded_size) padded; /* (lock) cleared when jobs come or go */
	uint64_t generation;		  /* (lock) how often `padded` was cleared */
};

int sizes_new(struct sizes **ret)
{
	struct sizes *sizes = calloc(1, sizeof(*sizes));
	if (!sizes)
		return -ENOMEM;
	lock_init(&sizes->lock, LOCK_RANK_FILES, "sizes");
	SLIST_INIT(&sizes->padded);
	*ret = sizes;
	return 0;
}

void sizes_forget(struct sizes *sizes)
{
	LOCK_SCOPE(&sizes->lock);
	struct padded_size *padded;
	while ((padded = SLIST_FIRST(&sizes->padded))) {
		SLIST_REMOVE_HEAD(&sizes->padded, link);
		free(padded);
	}
	sizes->generation++;
}

void sizes_free(struct sizes **sizes)
{
	if (!*sizes)
		return;
	sizes_forget(*sizes);
	lock_destroy(&(*sizes)->lock);
	free(*sizes);
	*sizes = NULL;
}

static bool find_padded(
	struct sizes *sizes, job_id job, bool second, uint64_t *ret, uint64_t *ret_gen)
{
	LOCK_SCOPE(&sizes->lock);
	struct padded_size *padded;
	*ret_gen = sizes->generation;
	SLIST_FOREACH (padded, &sizes->padded, link) {
		if (padded->job != job || padded->second != second)
			continue;
		*ret = padded->bytes;
		return true;
	}
	return false;
}

/* Keeps the size until jobs come or go. Without memory the next call computes the size again. */
static void keep_padded(
	struct sizes *sizes, uint64_t generation, const struct padded_size *found)
{
	struct padded_size *padded = malloc(sizeof(*padded));
	if (!padded)
		return;
	*padded = *found;
	lock_take(&sizes->lock);
	bool valid = generation == sizes->generation;
	if (valid)
		SLIST_INSERT_HEAD(&sizes->padded, padded, link);
	lock_release(&sizes->lock);
	if (!valid)
		free(padded);
}

static uint64_t largest(
	const struct job_config *config, const struct sched_edition *edition, bool second)
{
	return second ? content_second_largest(
				config, edition->dataset, edition->readable)
		      : content_bytes_largest(
				config, edition->dataset, edition->readable);
}

/* Returns the length to which files are padded. The first call examines all samples of the job. */
static uint64_t padded_size(struct sizes *sizes, struct sched_job *job,
	const struct sched_edition *edition, bool second)
{
	struct padded_size found = {.job = sched_job_id(job), .second = second};
	uint64_t bytes, generation;
	if (find_padded(sizes, found.job, second, &bytes, &generation))
		return bytes;
	found.bytes = largest(sched_job_config(job), edition, second);
	keep_padded(sizes, generation, &found);
	return found.bytes;
}

static struct job_config looks(struct sched_job *job, bool second)
{
	const struct job_config *config = sched_job_config(job);
	return second ? config_second(config) : *config;
}

uint64_t sizes_of_sample(struct sizes *sizes, struct sched_job *job, uint32_t epoch,
	sample_id sample, bool second)
{
	auto_edition *edition = sched_edition(job, epoch);
	const struct job_config look = looks(job, second);
	if (content_is_padded(&look))
		return padded_size(sizes, job, edition, second);
	return second ? content_second_bytes(
				sched_job_config(job), edition->dataset, sample)
		      : content_bytes(&look, edition->dataset, sample);
}

/* Returns the sample of the inode's position; SAMPLE_NONE: it has none yet. In layout mirror a
 * position has the same sample in all epochs. */
static sample_id sample_at(struct sched_job *job, struct inode inode)
{
	auto_edition *edition = sched_edition(job, inode_sched_epoch(inode));
	uint32_t sample;
	if (sched_job_config(job)->layout != LAYOUT_MIRROR)
		return sched_bound(job, inode_sched_epoch(inode), inode.position);
	return roaring_bitmap_select(edition->selection, inode.position, &sample)
		       ? sample
		       : SAMPLE_NONE;
}

bool sizes_of_part(struct sizes *sizes, struct sched_job *job, struct inode inode,
	bool second, uint64_t *ret)
{
	const struct job_config look = looks(job, second);
	if (content_bytes_fixed(&look, ret))
		return true;
	if (content_is_padded(&look)) {
		auto_edition *edition = sched_edition(job, inode_sched_epoch(inode));
		*ret = padded_size(sizes, job, edition, second);
		return true;
	}
	sample_id sample = sample_at(job, inode);
	if (sample == SAMPLE_NONE)
		return false;
	*ret = sizes_of_sample(sizes, job, inode_sched_epoch(inode), sample, second);
	return true;
}

bool sizes_of_position(
	struct sizes *sizes, struct sched_job *job, struct inode inode, uint64_t *ret)
{
	return sizes_of_part(sizes, job, inode, inode.kind == INODE_PAIR, ret);
}

/* Tells whether the rescan (`next`) changes the size to which second files are padded. */
static bool second_changes(const struct job_config *config,
	const struct sched_edition *now, const struct sched_edition *next)
{
	if (!config_is_pair(config) || content_joins(config))
		return false;
	const struct job_config look = config_second(config);
	return content_is_padded(&look) &&
	       largest(config, now, true) != largest(config, next, true);
}

const char *sizes_change(const struct job_config *config, const struct sched_edition *now,
	const struct sched_edition *next)
{
	uint32_t before = 0, after = 0;
	if ((content_is_padded(config) &&
		    largest(config, now, false) != largest(config, next, false)) ||
		second_changes(config, now, next))
		return "its largest image is of another size (size = padded)";
	if (label_bytes(dataset_classes(now->dataset)) !=
		label_bytes(dataset_classes(next->dataset)))
		return "labels have another number of digits";
	if (config->json && (dataset_json_longest(now->dataset, &before) != 0 ||
				    dataset_json_longest(next->dataset, &after) != 0 ||
				    before != after))
		return "the longest .json has another length";
	for (size_t i = 0; i <= CONFIG_MOST_ENDINGS; i++)
		if (config->layout == LAYOUT_TAR &&
			now->beside_bytes[i] != next->beside_bytes[i])
			return "the largest file beside a sample has another size";
	return NULL;
}

bool sizes_are_saved(struct sched_job *job, struct inode inode)
{
	const struct job_config look = looks(job, inode.kind == INODE_PAIR);
	uint32_t position = inode_is_sample(inode) ? inode.position : 0;
	uint64_t fixed;
	return !content_bytes_fixed(&look, &fixed) && !content_is_padded(&look) &&
	       look.layout != LAYOUT_MIRROR &&
	       sched_bound_is_saved(job, inode_sched_epoch(inode), position);
}

/* Tells whether the next epoch may make the file longer, because the file is a last batch or shard
 * that is not full. */
static bool may_grow(struct sched_job *job, struct inode inode)
{
	const struct job_config *config = sched_job_config(job);
	auto_edition *edition = sched_edition(job, SCHED_CURRENT);
	return (config->layout == LAYOUT_BATCH || config->layout == LAYOUT_TAR) &&
	       inode.position >= edition->samples / config_file_samples(config);
}

bool sizes_last(struct sched_job *job, struct inode inode)
{
	const struct job_config *config = sched_job_config(job);
	const struct job_config look = looks(job, inode.kind == INODE_PAIR);
	uint64_t fixed;
	if (may_grow(job, inode) && !sched_has_begun(job, inode_sched_epoch(inode)))
		return false;
	return inode.epoch != INODE_CURRENT || config->layout == LAYOUT_MIRROR ||
	       config->size == SIZE_PADDED || content_bytes_fixed(&look, &fixed);
}
