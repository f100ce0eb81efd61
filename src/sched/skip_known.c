// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/bitmap.h"
#include "base/log.h"
#include "edition/edition.h"
#include "sched/positions.h"
#include "sched/skipping.h"
#include "state/state.h"
#include "supply/supply.h"

#include <errno.h>
#include <inttypes.h>

static void take_lines(struct sched_job *job, FILE *in)
{
	uint32_t id, n = 0;
	uint64_t bytes;
	int64_t mtime_ns;
	while (fscanf(in, "%" SCNu32 " %" SCNu64 " %" SCNd64 "%*[^\n]", &id, &bytes,
		       &mtime_ns) == 3) {
		if (!roaring_bitmap_contains(job->is.now->selection, id) ||
			!bad_sample_is_unchanged(
				job->is.now->is.dataset, id, bytes, mtime_ns))
			continue;
		roaring_bitmap_add(job->skips.bad, id);
		roaring_bitmap_add(job->skips.damaged, id);
		n++;
	}
	if (n > 0)
		log_info("job %s: %" PRIu32 " samples known to be bad are left out until "
			 "their files change: %s/bad",
			job->is.config.name, n, job->is.directory);
}

static void take_quarantined(struct sched_job *job)
{
	const roaring_bitmap_t *quarantined =
		sched_source_of(job->is.now->parts[0].source)->quarantined;
	if (!quarantined)
		return;
	auto_bitmap roaring_bitmap_t *both =
		roaring_bitmap_and(job->is.now->selection, quarantined);
	if (both)
		roaring_bitmap_or_inplace(job->skips.bad, both);
}

int skip_begin(struct sched_job *job)
{
	struct skipping *skips = &job->skips;
	if (!job->is.config.skips_bad)
		return 0;
	skips->bad = roaring_bitmap_andnot(job->is.now->selection, job->is.now->readable);
	skips->damaged = roaring_bitmap_create();
	if (!skips->bad || !skips->damaged)
		return -ENOMEM;
	uint64_t n = roaring_bitmap_get_cardinality(skips->bad);
	if (n > 0)
		log_warn("job %s: %" PRIu64 " samples are left out, because they have no "
			 "readable header or are too large",
			job->is.config.name, n);
	take_quarantined(job);
	auto_fclose FILE *in = keep_bad_open(&job->is);
	if (in)
		take_lines(job, in);
	skips->told = roaring_bitmap_copy(skips->bad);
	return skips->told ? skip_plan_new(job, skips->bad, &skips->plan) : -ENOMEM;
}

void skip_found_locked(const struct space *space, sample_id sample, bool damaged)
{
	struct sched *sched = sched_of_source(space->source);
	struct sched_job *job;
	lock_assert_held(&sched->lock);
	TAILQ_FOREACH (job, &sched->jobs, link) {
		struct skipping *skips = &job->skips;
		if (job->is.now->parts[0].space != space || !skips->bad ||
			!roaring_bitmap_contains(job->is.now->selection, sample) ||
			!roaring_bitmap_add_checked(skips->bad, sample))
			continue;
		if (damaged)
			roaring_bitmap_add(skips->damaged, sample);
		skips->found = true;
		clerk_request_locked(job);
	}
}

/* Copies the sets skips.bad and skips.damaged; the caller frees the copies. Returns false if no bad
 * sample was found since the last call. */
static bool take_found(
	struct sched_job *job, roaring_bitmap_t **ret_bad, roaring_bitmap_t **ret_damaged)
{
	LOCK_SCOPE(&job->sched->lock);
	if (!job->skips.found)
		return false;
	job->skips.found = false;
	*ret_bad = roaring_bitmap_copy(job->skips.bad);
	*ret_damaged = roaring_bitmap_copy(job->skips.damaged);
	return true;
}

static void tell(struct sched_job *job, const roaring_bitmap_t *bad)
{
	roaring_uint32_iterator_t iterator;
	roaring_init_iterator(bad, &iterator);
	for (; iterator.has_value; roaring_advance_uint32_iterator(&iterator)) {
		struct dataset_sample sample = {0};
		if (!roaring_bitmap_add_checked(job->skips.told, iterator.current_value))
			continue;
		if (dataset_get(job->is.now->is.dataset, iterator.current_value,
			    &sample) == 0)
			log_warn("job %s: %s is left out of later epochs (bad_sample = "
				 "skip)",
				job->is.config.name, sample.path);
		dataset_sample_free(&sample);
	}
}

static void print_damaged(
	FILE *out, struct dataset *dataset, const roaring_bitmap_t *damaged)
{
	roaring_uint32_iterator_t iterator;
	roaring_init_iterator(damaged, &iterator);
	for (; iterator.has_value; roaring_advance_uint32_iterator(&iterator)) {
		struct dataset_sample sample = {0};
		if (dataset_get(dataset, iterator.current_value, &sample) == 0)
			fprintf(out, "%" PRIu32 " %" PRIu64 " %" PRId64 "\n",
				iterator.current_value, sample.bytes, sample.mtime_ns);
		dataset_sample_free(&sample);
	}
}

static void save(struct sched_job *job, const roaring_bitmap_t *damaged)
{
	auto_free char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return;
	print_damaged(out, job->is.now->is.dataset, damaged);
	if (fclose(out) == 0)
		/* keep_bad logs the error. A bad sample that is not saved will be found again. */
		(void)!keep_bad(&job->is, text);
}

static void update(struct sched_job *job, const roaring_bitmap_t *bad)
{
	struct skip_plan *plan, *old;
	if (skip_plan_new(job, bad, &plan) != 0)
		/* Memory is short: the next bad sample leads to another try. */
		return;
	lock_take(&job->sched->lock);
	old = job->skips.plan;
	job->skips.plan = plan;
	lock_release(&job->sched->lock);
	skip_plan_free(old);
}

void skip_update(struct sched_job *job)
{
	auto_bitmap roaring_bitmap_t *bad = NULL;
	auto_bitmap roaring_bitmap_t *damaged = NULL;
	if (!job->skips.bad || !take_found(job, &bad, &damaged))
		return;
	if (damaged)
		save(job, damaged);
	if (!bad)
		return;
	tell(job, bad);
	update(job, bad);
}

bool sched_skips(const struct sched_job *job)
{
	return job->skips.bad != NULL;
}

roaring_bitmap_t *sched_job_bad(struct sched_job *job)
{
	LOCK_SCOPE(&job->sched->lock);
	return job->skips.bad ? roaring_bitmap_copy(job->skips.bad) : NULL;
}
