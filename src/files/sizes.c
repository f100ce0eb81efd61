// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/sizes.h"
#include "base/lock.h"
#include "files/content_bytes.h"
#include "files/label.h"
#include "files/layout.h"

#include <errno.h>
#include <sys/queue.h>

struct padded_size {
	SLIST_ENTRY(padded_size) link;
	job_id job;
	uint64_t bytes;
};

struct sizes {
	struct lock lock;
	SLIST_HEAD(, padded_size) padded; /* (lock) forgotten when jobs change */
	uint64_t generation;		  /* (lock) counts these changes */
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

static bool find_padded(struct sizes *sizes, job_id job, uint64_t *ret, uint64_t *ret_gen)
{
	LOCK_SCOPE(&sizes->lock);
	struct padded_size *padded;
	*ret_gen = sizes->generation;
	SLIST_FOREACH (padded, &sizes->padded, link) {
		if (padded->job != job)
			continue;
		*ret = padded->bytes;
		return true;
	}
	return false;
}

/* Keeps the size until a job comes or goes. Without memory the next call finds
 * it again. */
static void keep_padded(
	struct sizes *sizes, uint64_t generation, job_id job, uint64_t bytes)
{
	struct padded_size *padded = malloc(sizeof(*padded));
	if (!padded)
		return;
	*padded = (struct padded_size){.job = job, .bytes = bytes};
	lock_take(&sizes->lock);
	bool valid = generation == sizes->generation;
	if (valid)
		SLIST_INSERT_HEAD(&sizes->padded, padded, link);
	lock_release(&sizes->lock);
	if (!valid)
		free(padded);
}

/* Looks at all samples of the job, but only once. */
static uint64_t padded_size(
	struct sizes *sizes, struct sched_job *job, const struct sched_edition *edition)
{
	uint64_t bytes, generation;
	if (find_padded(sizes, sched_job_id(job), &bytes, &generation))
		return bytes;
	bytes = content_bytes_largest(
		sched_job_config(job), edition->dataset, edition->readable);
	keep_padded(sizes, generation, sched_job_id(job), bytes);
	return bytes;
}

uint64_t sizes_of_sample(
	struct sizes *sizes, struct sched_job *job, uint32_t epoch, sample_id sample)
{
	auto_edition *edition = sched_edition(job, epoch);
	const struct job_config *config = sched_job_config(job);
	if (content_is_padded(config))
		return padded_size(sizes, job, edition);
	return content_bytes(config, edition->dataset, sample);
}

/* In mirror a position is the same sample in all epochs. */
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

bool sizes_of_position(
	struct sizes *sizes, struct sched_job *job, struct inode inode, uint64_t *ret)
{
	const struct job_config *config = sched_job_config(job);
	if (content_bytes_fixed(config, ret))
		return true;
	if (content_is_padded(config)) {
		auto_edition *edition = sched_edition(job, inode_sched_epoch(inode));
		*ret = padded_size(sizes, job, edition);
		return true;
	}
	sample_id sample = sample_at(job, inode);
	if (sample == SAMPLE_NONE)
		return false;
	*ret = sizes_of_sample(sizes, job, inode_sched_epoch(inode), sample);
	return true;
}

const char *sizes_change(const struct job_config *config, const struct sched_edition *now,
	const struct sched_edition *next)
{
	uint32_t before = 0, after = 0;
	if (content_is_padded(config) &&
		content_bytes_largest(config, now->dataset, now->readable) !=
			content_bytes_largest(config, next->dataset, next->readable))
		return "its largest image is of another size (size = padded)";
	if (label_bytes(dataset_classes(now->dataset)) !=
		label_bytes(dataset_classes(next->dataset)))
		return "labels have another number of digits";
	if (config->json && (dataset_json_longest(now->dataset, &before) != 0 ||
				    dataset_json_longest(next->dataset, &after) != 0 ||
				    before != after))
		return "the longest .json has another length";
	return NULL;
}

bool sizes_are_saved(struct sched_job *job, struct inode inode)
{
	const struct job_config *config = sched_job_config(job);
	uint32_t position = inode.kind == INODE_SAMPLE ? inode.position : 0;
	uint64_t fixed;
	return !content_bytes_fixed(config, &fixed) && !content_is_padded(config) &&
	       config->layout != LAYOUT_MIRROR &&
	       sched_bound_is_saved(job, inode_sched_epoch(inode), position);
}

/* The last batch or shard may be longer in the next epoch. */
static bool may_grow(struct sched_job *job, struct inode inode)
{
	const struct job_config *config = sched_job_config(job);
	auto_edition *edition = sched_edition(job, SCHED_CURRENT);
	return (config->layout == LAYOUT_BATCH || config->layout == LAYOUT_TAR) &&
	       inode.position >= edition->samples / layout_file_samples(config);
}

bool sizes_last(struct sched_job *job, struct inode inode)
{
	const struct job_config *config = sched_job_config(job);
	uint64_t fixed;
	if (may_grow(job, inode) && !sched_has_begun(job, inode_sched_epoch(inode)))
		return false;
	return inode.epoch != INODE_CURRENT || config->layout == LAYOUT_MIRROR ||
	       config->size == SIZE_PADDED || content_bytes_fixed(config, &fixed);
}
