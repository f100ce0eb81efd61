// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/bitmap.h"
#include "base/log.h"
#include "edition/edition.h"
#include "sched/skipping.h"

#include <errno.h>
#include <inttypes.h>

/* Chooses a position to leave out for each bad sample. If positions have fixed samples, it is the
 * sample's own position. If positions have fixed labels, it is one of the last positions of the
 * sample's label. Otherwise it is one of the epoch's last positions. Listings do not show the
 * positions that are left out, and these count as read. So all other files keep their names. */

void skip_plan_free(struct skip_plan *plan)
{
	if (!plan)
		return;
	bitmap_free(&plan->positions);
	free(plan);
}

void skip_free(struct sched_job *job)
{
	struct skipping *skips = &job->skips;
	skip_plan_free(skips->plan);
	bitmap_free(&skips->bad);
	bitmap_free(&skips->damaged);
	bitmap_free(&skips->told);
}

static void plan_add(struct skip_plan *plan, uint32_t position, sample_id sample)
{
	plan->bindings[plan->n++] =
		(struct binding){.position = position, .sample = sample};
	roaring_bitmap_add(plan->positions, position);
}

static void place_fixed(
	const struct sched_job *job, const roaring_bitmap_t *bad, struct skip_plan *plan)
{
	for (uint32_t position = 0; position < job->is.now->set.positions; position++)
		if (roaring_bitmap_contains(bad, job->is.now->by_position[position]))
			plan_add(plan, position, job->is.now->by_position[position]);
}

static int place_by_label(const struct sched_job *job, const uint32_t *ids, uint32_t n,
	struct skip_plan *plan)
{
	const struct dataset *dataset = job->is.now->is.dataset;
	auto_free uint32_t *first = calloc(dataset_classes(dataset) + 1, sizeof(*first));
	auto_free uint32_t *next = calloc(n + 1, sizeof(*next));
	if (!first || !next)
		return -ENOMEM;
	/* The bad samples of each label form a list. Entry i, from 1 on, stands for the i-th
	 * element of `ids`. first[label] is the first entry of a list, next[i] is the entry after
	 * i, and 0 ends a list. */
	for (uint32_t i = n; i > 0; i--) {
		uint32_t label = dataset_label(dataset, ids[i - 1]);
		next[i] = first[label];
		first[label] = i;
	}
	for (uint32_t position = job->is.now->set.positions;
		position > 0 && plan->n < n;) {
		uint32_t *i = &first[edition_label_of(job->is.now, --position)];
		if (*i == 0)
			continue;
		plan_add(plan, position, ids[*i - 1]);
		*i = next[*i];
	}
	return 0;
}

/* Fills in the plan, which has room for the n bad samples. */
static int place(const struct sched_job *job, const roaring_bitmap_t *bad, uint32_t n,
	struct skip_plan *plan)
{
	auto_free uint32_t *ids = calloc(n + 1, sizeof(*ids));
	plan->positions = roaring_bitmap_create();
	if (!ids || !plan->positions)
		return -ENOMEM;
	roaring_bitmap_to_uint32_array(bad, ids);
	if (job_kind(&job->is) == EPOCHS_FIXED)
		place_fixed(job, bad, plan);
	else if (job_kind(&job->is) == EPOCHS_DRAWN)
		for (uint32_t i = 0; i < n; i++)
			plan_add(plan, job->is.now->set.positions - 1 - i, ids[i]);
	else
		return place_by_label(job, ids, n, plan);
	return 0;
}

int skip_plan_new(
	const struct sched_job *job, const roaring_bitmap_t *bad, struct skip_plan **ret)
{
	uint32_t n = (uint32_t)roaring_bitmap_get_cardinality(bad);
	struct skip_plan *plan = calloc(1, sizeof(*plan) + n * sizeof(plan->bindings[0]));
	int err = plan ? 0 : -ENOMEM;
	*ret = NULL;
	if (!err && n >= job->is.now->set.positions)
		log_error("job %s: all %" PRIu32 " samples are bad, so none is left out",
			job->is.config.name, job->is.now->set.positions);
	else if (!err)
		err = place(job, bad, n, plan);
	if (err || plan->n == 0) {
		skip_plan_free(plan);
		return err;
	}
	*ret = plan;
	return 0;
}
