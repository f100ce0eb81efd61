// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/array_grow.h"
#include "base/bitmap.h"
#include "edition/edition.h"
#include "sched/gauges.h"
#include "sched/jobs.h"
#include "sched/sched_internal.h"

#include <errno.h>
#include <stdlib.h>

/* Samples of one dataset that the same jobs read with one preparation: the jobs whose bits are set
 * in `jobs`, and no other job. */
struct region {
	const struct space *space;
	roaring_bitmap_t *samples;
	uint64_t jobs;
};

struct regions {
	struct region *region;
	size_t n, capacity;
};

/* Takes over *samples, and sets *samples to NULL. Leaves *samples to the caller if the set is
 * empty, or if memory is short (-ENOMEM). */
static int add_region(struct regions *regions, const struct space *space,
	roaring_bitmap_t **samples, uint64_t jobs)
{
	if (!*samples ||
		!array_make_room(regions->region, regions->n, &regions->capacity))
		return -ENOMEM;
	if (roaring_bitmap_is_empty(*samples))
		return 0;
	regions->region[regions->n++] =
		(struct region){.space = space, .samples = *samples, .jobs = jobs};
	*samples = NULL;
	return 0;
}

/* Adds a job to the regions; `job` is its bit. Moves the job's samples out of each region of the
 * part's space to a new region, whose set of jobs also has this job. Then adds a region for the
 * samples that were in no region. */
static int divide(struct regions *regions, const struct part *part, uint64_t job)
{
	size_t n = regions->n;
	auto_bitmap roaring_bitmap_t *rest = roaring_bitmap_copy(part->selection);
	for (size_t i = 0; i < n && rest; i++) {
		struct region *region = &regions->region[i];
		if (region->space != part->space ||
			!roaring_bitmap_intersect(region->samples, rest))
			continue;
		auto_bitmap roaring_bitmap_t *both =
			roaring_bitmap_and(region->samples, rest);
		if (both) {
			roaring_bitmap_andnot_inplace(rest, both);
			roaring_bitmap_andnot_inplace(region->samples, both);
		}
		int err = add_region(regions, part->space, &both, region->jobs | job);
		if (err)
			return err;
	}
	return add_region(regions, part->space, &rest, job);
}

static int divide_job(
	struct sched *sched, struct regions *regions, job_id id, uint64_t bit)
{
	auto_job *job = sched_job_find_id(sched, id);
	if (!job)
		return 0;
	lock_take(&sched->lock);
	struct edition *edition = job->is.now;
	atomic_fetch_add(&edition->holds, 1);
	lock_release(&sched->lock);
	int err = 0;
	for (size_t i = 0; i < edition->n_parts && !err; i++)
		err = divide(regions, &edition->parts[i], bit);
	edition_let_go(edition);
	return err;
}

int sched_common(struct sched *sched, const job_id *ids, size_t n,
	struct sched_common **ret, size_t *ret_n)
{
	struct regions regions = {0};
	int err = 0;
	for (size_t i = 0; i < n && i < SCHED_COMMON_JOBS && !err; i++)
		err = divide_job(sched, &regions, ids[i], UINT64_C(1) << i);
	*ret_n = 0;
	*ret = err ? NULL : calloc(regions.n + 1, sizeof(**ret));
	err = *ret ? 0 : -ENOMEM;
	for (size_t i = 0; i < regions.n; i++) {
		struct region *region = &regions.region[i];
		uint64_t samples = roaring_bitmap_get_cardinality(region->samples);
		roaring_bitmap_free(region->samples);
		if (!err && samples > 0)
			(*ret)[(*ret_n)++] = (struct sched_common){
				.jobs = region->jobs, .samples = (uint32_t)samples};
	}
	free(regions.region);
	return err;
}
