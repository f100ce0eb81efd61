// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/bitmap.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/size_text.h"
#include "sched/datasets.h"
#include "edition/edition.h"
#include "sched/gauges.h"
#include "sched/jobs.h"
#include "sched/supplying.h"
#include "supply/supply.h"

#include <errno.h>
#include <inttypes.h>

/* Advises the user when the cache is too small for all prepared samples that jobs read. */

#define TOLD_EACH_NS UINT64_C(600000000000)

/* Lists the parts of jobs that have samples of the dataset. The caller frees *ret, and gives back
 * the references to each part's job and edition. -ENOMEM */
static int hold_parts(struct sched *sched, const struct dataset *dataset,
	const struct part ***ret, size_t *ret_n)
{
	LOCK_SCOPE(&sched->lock);
	struct sched_job *job;
	*ret_n = 0;
	*ret = calloc(sched->n_jobs + 1, sizeof(struct part *));
	if (!*ret)
		return -ENOMEM;
	TAILQ_FOREACH (job, &sched->jobs, link) {
		const struct part *part = edition_part_of(job->is.now, dataset);
		if (!part)
			continue;
		atomic_fetch_add(&sched_job_hold(job)->is.now->holds, 1);
		(*ret)[(*ret_n)++] = part;
	}
	return 0;
}

static bool is_first_of_space(const struct part *const *parts, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (parts[k]->space == parts[i]->space)
			return false;
	return true;
}

/* Sums up the parts with the same preparation as the i-th part. */
static int sum_up(
	const struct part *const *parts, size_t n, size_t i, struct sched_prepared *ret)
{
	auto_bitmap roaring_bitmap_t *samples = roaring_bitmap_create();
	uint64_t bytes = 0, of = 0;
	*ret = (struct sched_prepared){0};
	if (!samples)
		return -ENOMEM;
	preparation_print(&parts[i]->space->preparation, ret->preparation);
	for (size_t k = i; k < n; k++) {
		if (parts[k]->space != parts[i]->space)
			continue;
		roaring_bitmap_or_inplace(samples, parts[k]->selection);
		bytes += parts[k]->all_bytes;
		of += roaring_bitmap_get_cardinality(parts[k]->selection);
		ret->jobs++;
	}
	ret->samples = (uint32_t)roaring_bitmap_get_cardinality(samples);
	ret->sample_bytes = bytes / of; /* `of` is not 0: a job has at least one sample */
	return 0;
}

int sched_dataset_prepared(struct sched *sched, const struct dataset *dataset,
	struct sched_prepared **ret, size_t *ret_n)
{
	auto_free const struct part **parts = NULL;
	size_t n;
	*ret_n = 0;
	*ret = NULL;
	int err = hold_parts(sched, dataset, &parts, &n);
	if (!err && !(*ret = calloc(n + 1, sizeof(**ret))))
		err = -ENOMEM;
	for (size_t i = 0; !err && i < n; i++)
		if (is_first_of_space(parts, i))
			err = sum_up(parts, n, i, &(*ret)[(*ret_n)++]);
	for (size_t i = 0; parts && i < n; i++) {
		struct sched_job *job = sched_job_of(parts[i]->edition->job);
		edition_let_go(parts[i]->edition);
		sched_job_put(job);
	}
	if (err) {
		free(*ret);
		*ret = NULL;
	}
	return err;
}

static uint64_t all_prepared(struct sched *sched)
{
	uint64_t bytes = 0;
	uint32_t datasets = sched_datasets(sched, NULL);
	for (uint32_t i = 0; i < datasets; i++) {
		struct dataset *dataset = sched_dataset_hold(sched, i);
		struct sched_prepared *prepared = NULL;
		size_t n = 0;
		if (!dataset)
			continue;
		if (sched_dataset_prepared(sched, dataset, &prepared, &n) == 0)
			for (size_t k = 0; k < n; k++)
				bytes += prepared[k].samples * prepared[k].sample_bytes;
		free(prepared);
		dataset_close(&dataset);
	}
	return bytes;
}

static bool exchange_would_help_locked(const struct sched *sched)
{
	lock_assert_held(&sched->lock);
	for (size_t i = 0; i < sched->supply.n_sources; i++) {
		const struct sched_source *source = &sched->sources[i];
		if (source->is.dataset && atomic_load(&source->is.jobs) > 1 &&
			source_sampler(source) != SAMPLER_EXCHANGE)
			return true;
	}
	return false;
}

/* Tells whether to log the advice now. *ret: number of evictions of needed samples since the last
 * advice. *ret_exchange: whether to recommend the sampler `exchange`, too. */
static bool is_to_be_told(struct sched *sched, uint64_t *ret, bool *ret_exchange)
{
	LOCK_SCOPE(&sched->lock);
	uint64_t now_ns = clock_now_ns();
	uint64_t evictions = cache_usage(sched->cache)->evictions_needed;
	*ret = evictions - sched->evictions_told;
	if (*ret == 0 || (sched->told_ns != 0 && now_ns - sched->told_ns < TOLD_EACH_NS))
		return false;
	sched->evictions_told = evictions;
	sched->told_ns = now_ns;
	*ret_exchange = exchange_would_help_locked(sched);
	return true;
}

void prepared_report(struct sched *sched)
{
	uint64_t n;
	bool exchange;
	if (!is_to_be_told(sched, &n, &exchange))
		return;
	log_info(
		"%" PRIu64
		" prepared samples were evicted although running epochs need them again: "
		"the cache has %s, but all samples that jobs read take %s; a larger "
		"cache in [joaderfs] helps, or fewer pixels in [tensor] of the jobs%s",
		n, size_text(sched->config->cache_bytes).text,
		size_text(all_prepared(sched)).text,
		exchange ? ", or sampler = exchange (joader-sim(1) tells how much)" : "");
}

static uint64_t look_ahead_bytes(const struct sched_job *job)
{
	uint64_t n = config_lookahead(&job->is.config);
	if (job_kind(&job->is) == EPOCHS_MIRRORED)
		return 0;
	uint32_t samples = job->is.now->set.positions;
	return (n < samples ? n : samples) * job->is.now->largest_bytes;
}

void sched_report_cache(struct sched *sched, config_report *report, void *context)
{
	const uint64_t cache = sched->config->cache_bytes;
	const struct sched_job *job;
	uint64_t bytes = 0;
	lock_take(&sched->lock);
	TAILQ_FOREACH (job, &sched->jobs, link)
		bytes += look_ahead_bytes(job);
	lock_release(&sched->lock);
	if (bytes > cache)
		config_report_text(report, context,
			CONFIG_WARNING
			"cache = %s is less than the %s of the jobs' lookahead: they "
			"prepare fewer samples ahead, and share less; a larger cache in "
			"[joaderfs] helps, or a smaller lookahead in [view] of the jobs",
			size_text(cache).text, size_text(bytes).text);
}
