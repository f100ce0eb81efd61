// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "view/sample.h"
#include "view/sample_bytes.h"

static bool find_padded(struct view *view, job_id job, uint64_t *ret, uint64_t *ret_gen)
{
	LOCK_SCOPE(&view->lock);
	struct padded_size *padded;
	*ret_gen = view->generation;
	SLIST_FOREACH(padded, &view->padded, link)
	{
		if (padded->job != job)
			continue;
		*ret = padded->bytes;
		return true;
	}
	return false;
}

/* Kept while no job comes or goes. Without memory it is found again at the next call. */
static void keep_padded(
	struct view *view, uint64_t generation, job_id job, uint64_t bytes)
{
	struct padded_size *padded = malloc(sizeof(*padded));
	if (!padded)
		return;
	*padded = (struct padded_size){.job = job, .bytes = bytes};
	lock_take(&view->lock);
	bool valid = generation == view->generation;
	if (valid)
		SLIST_INSERT_HEAD(&view->padded, padded, link);
	lock_release(&view->lock);
	if (!valid)
		free(padded);
}

/* Looks at all samples of the job: once. */
static uint64_t padded_size(struct view *view, struct sched_job *job)
{
	uint64_t bytes, generation;
	if (find_padded(view, sched_job_id(job), &bytes, &generation))
		return bytes;
	bytes = sample_bytes_largest(
		sched_job_config(job), sched_job_dataset(job), sched_job_selection(job));
	keep_padded(view, generation, sched_job_id(job), bytes);
	return bytes;
}

uint64_t sample_size_of(struct view *view, struct sched_job *job, sample_id sample)
{
	const struct job_config *config = sched_job_config(job);
	if (sample_bytes_padded(config))
		return padded_size(view, job);
	return sample_bytes(config, sched_job_dataset(job), sample);
}

/* In mirror a position is the same sample in all epochs. */
static sample_id sample_at(struct sched_job *job, struct inode inode)
{
	uint32_t sample;
	if (sched_job_config(job)->layout != LAYOUT_MIRROR)
		return sched_bound(job, sched_epoch_of(inode), inode.position);
	return roaring_bitmap_select(sched_job_selection(job), inode.position, &sample)
		       ? sample
		       : SAMPLE_NONE;
}

bool sample_size(
	struct view *view, struct sched_job *job, struct inode inode, uint64_t *ret)
{
	const struct job_config *config = sched_job_config(job);
	if (sample_bytes_fixed(config, ret))
		return true;
	if (sample_bytes_padded(config)) {
		*ret = padded_size(view, job);
		return true;
	}
	sample_id sample = sample_at(job, inode);
	if (sample == SAMPLE_NONE)
		return false;
	*ret = sample_size_of(view, job, sample);
	return true;
}

bool sample_size_lasts(const struct job_config *config, struct inode inode)
{
	uint64_t fixed;
	return inode.epoch != INODE_CURRENT || config->layout == LAYOUT_MIRROR ||
	       config->size == SIZE_PADDED || sample_bytes_fixed(config, &fixed);
}
