// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/heap.h"
#include "edition/edition.h"
#include "supply/supply.h"
#include "sched/gauges.h"
#include "sched/sched.h"
#include "sched/supplying.h"
#include "stats/stats.h"

#include <string.h>
#include <inttypes.h>

const char *sched_job_state(
	const struct job_config *config, const struct sched_job_status *status)
{
	if (!status->started)
		return "new";
	if (status->running)
		return status->parked_idle ? "parked" : "running";
	return status->epoch + 1 < config_job_epochs(config) ? "waiting" : "finished";
}

static void dump_job_locked(struct sched_job *job, FILE *out)
{
	struct sched_job_status status;
	lock_assert_held(&job->sched->lock);
	job_status_locked(job, &status);
	fprintf(out,
		"job %s: dataset %s, %s, epoch %" PRIu32 ", %" PRIu32 " bound, %" PRIu32
		" consumed, %" PRIu32 " drawn ahead, of %" PRIu32 " samples, %" PRIu64
		" errors\n",
		job->is.config.name, job->is.config.dataset,
		sched_job_state(&job->is.config, &status), status.epoch, status.bound,
		status.consumed, status.drawn, status.samples, status.errors);
}

static void stats_locked(struct sched *sched)
{
	lock_assert_held(&sched->lock);
	const struct cache_usage *usage = cache_usage(sched->cache);
	stats_set(STAT_HELD_BYTES, memory_held(&sched->supply));
	stats_set(STAT_HELD_PEAK, sched->supply.held_peak);
	stats_set(STAT_HELD_LIMIT, memory_most(&sched->supply));
	stats_set(STAT_CACHE_BYTES, usage->bytes);
	stats_set(STAT_CACHE_PEAK, usage->peak_bytes);
	stats_set(STAT_CACHE_TENSORS, usage->tensors);
	stats_set(STAT_CACHE_PINS, usage->pins);
	stats_set(STAT_CACHE_NEED, usage->need);
	stats_set(STAT_JOBS, sched->n_jobs);
	stats_set(STAT_STREAMS, sched->draw.n_streams);
	stats_set(STAT_EVICTIONS, usage->evictions);
	stats_set(STAT_EVICTIONS_NEEDED, usage->evictions_needed);
}

void sched_dump(struct sched *sched, FILE *out)
{
	struct sched_job *job;
	if (!lock_seize(&sched->lock)) {
		fputs("jobs: unknown, because another thread holds the lock\n", out);
		return;
	}
	TAILQ_FOREACH (job, &sched->jobs, link)
		dump_job_locked(job, out);
	stats_locked(sched);
}

bool sched_dataset_times(
	struct sched *sched, uint32_t number, struct sched_dataset_times *ret)
{
	LOCK_SCOPE(&sched->lock);
	*ret = (struct sched_dataset_times){0};
	if (number >= sched->supply.n_sources)
		return false;
	const struct sched_source *source = &sched->sources[number];
	if (!source->is.dataset || source->removed)
		return false;
	histogram_copy_add(&source->is.reads, &ret->read);
	histogram_copy_add(&source->decodes, &ret->decode);
	ret->cpu_ns = atomic_load_explicit(&source->cpu_ns, memory_order_relaxed);
	return true;
}

_Static_assert(SCHED_NEEDS == CACHE_NEEDS, "needs are told as the cache counts them");

void sched_cache(struct sched *sched, struct sched_cache *ret)
{
	LOCK_SCOPE(&sched->lock);
	const struct cache_usage *usage = cache_usage(sched->cache);
	*ret = (struct sched_cache){.capacity = usage->capacity,
		.held = usage->live_bytes,
		.pinned = usage->pinned_bytes,
		.by_need = sched->config->eviction == EVICTION_REFCNT};
	memcpy(ret->needed, usage->needed_bytes, sizeof(ret->needed));
}

double sched_seconds_left(const struct sched_job_status *status)
{
	uint32_t left = status->samples - status->consumed;
	if (!status->running || status->samples < status->consumed)
		return -1;
	if (left == 0)
		return 0;
	return status->rate > 0 ? left / status->rate : -1;
}

void sched_job_storage(struct sched_job *job, struct sched_storage *ret)
{
	LOCK_SCOPE(&job->sched->lock);
	const struct edition *now = job->is.now;
	for (size_t i = 0; i < now->n_parts; i++) {
		storage_status_locked(job->sched, now->parts[i].source->storage, ret);
		if (ret->silent_ns > 0)
			return;
	}
	storage_status_locked(job->sched, now->parts[0].source->storage, ret);
}

void sched_stats(struct sched *sched)
{
	stats_set(STAT_HEAP_BYTES, heap_bytes());
	LOCK_SCOPE(&sched->lock);
	stats_locked(sched);
}
