// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "edition/edition.h"
#include "sched/gauges.h"
#include "sched/skipping.h"
#include "sched/supplying.h"
#include "supply/supply.h"
#include "watch/watch.h"
#include "epoch/questions.h"

#include <string.h>

static void status_of_waits_locked(struct sched_job *job, struct sched_job_status *ret)
{
	struct epoch_waits waits;
	lock_assert_held(&job->sched->lock);
	ret->now_ns = clock_now_ns();
	job_count_waits_locked(job, ret->now_ns);
	waits_of_epoch_locked(&job->watch, ret->now_ns, &waits);
	memcpy(ret->exposed_ns, waits.exposed_ns, sizeof(ret->exposed_ns));
	ret->epoch_ns = waits.epoch_ns;
	ret->waited_part = waits.waited_part;
}

static void status_of_skips_locked(
	const struct sched_job *job, struct sched_job_status *ret)
{
	const roaring_bitmap_t *skipped = epochs_skipped(job->is.epochs, ret->epoch);
	lock_assert_held(&job->sched->lock);
	ret->skipped = skipped ? (uint32_t)roaring_bitmap_get_cardinality(skipped) : 0;
	ret->bad = job->skips.plan ? job->skips.plan->n : 0;
}

void job_status_locked(struct sched_job *job, struct sched_job_status *ret)
{
	struct epochs_status epochs;
	lock_assert_held(&job->sched->lock);
	epochs_status(job->is.epochs, &epochs);
	const struct job_totals *totals = &job->watch.totals;
	*ret = (struct sched_job_status){.served = totals->served,
		.decoded = totals->decoded,
		.shared = totals->shared,
		.hit = totals->hit,
		.errors = totals->errors,
		.waits = totals->waits,
		.wait_ns = totals->wait_ns,
		.notices = totals->notices};
	shares_status_locked(job, &ret->share);
	status_of_waits_locked(job, ret);
	ret->fixed = job->is.fixed;
	ret->all_bytes = job->is.now->all_bytes;
	ret->sample_bytes = job->is.now->sample_bytes;
	ret->samples = epochs_set(job->is.epochs, epochs.epoch)->positions;
	ret->rate = rate_locked(&job->watch);
	ret->parked_idle = epochs.idle;
	ret->drawn = epochs.ahead;
	ret->started = epochs.started;
	ret->running = epochs.running;
	ret->epoch = epochs.epoch;
	ret->bound = epochs.bound;
	ret->consumed = epochs.consumed;
	status_of_skips_locked(job, ret);
	if (job->unfed_since_ns)
		ret->unfed_ns = clock_now_ns() - job->unfed_since_ns;
	ret->gives_up = job->gives_up;
	memcpy(ret->waits_why, job->waits_why, sizeof(ret->waits_why));
	memcpy(ret->programs, job->programs, sizeof(ret->programs));
	if (job->watch.lap.last_ns)
		ret->read_ns = clock_now_ns() - job->watch.lap.last_ns;
}

void sched_job_status(struct sched_job *job, struct sched_job_status *ret)
{
	LOCK_SCOPE(&job->sched->lock);
	job_status_locked(job, ret);
}

void sched_job_laps(struct sched_job *job, struct sched_laps *ret)
{
	LOCK_SCOPE(&job->sched->lock);
	const struct edition *now = job->is.now;
	*ret = job->watch.laps;
	ret->last_ns = job->watch.lap.last_ns;
	ret->sample_bytes = now->sample_bytes;
	ret->weight = job->is.config.weight;
	ret->sampler = source_sampler(sched_source_of(now->parts[0].source));
	ret->labels = job_kind(&job->is) == EPOCHS_DRAWN_AT_OPEN
			      ? dataset_classes(now->is.dataset)
			      : 0;
	ret->drawn = job_kind(&job->is) == EPOCHS_DRAWN ||
		     job_kind(&job->is) == EPOCHS_DRAWN_AT_OPEN;
}
