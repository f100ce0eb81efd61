// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_handle.h"
#include "sched/sched.h"
#include "sched/skipping.h"
#include "sched/supplying.h"
#include "stats/stats.h"

static void answer_locked(
	struct sched *sched, struct waiters *ready, struct aftermath *aftermath)
{
	struct waiter *waiter;
	lock_assert_held(&sched->lock);
	while ((waiter = TAILQ_FIRST(ready))) {
		struct sched_handle *handle = handle_of_waiter(waiter);
		TAILQ_REMOVE(ready, waiter, link);
		handle->bad = waiter->bad;
		if (waiter->status != 0 && !handle->bare)
			handle->job->watch.totals.errors++;
		handle_finish_locked(handle, waiter->status, aftermath);
	}
}

static void execute_all_locked(struct sched *sched, struct aftermath *aftermath)
{
	struct supply_effects effects;
	lock_assert_held(&sched->lock);
	supply_take_effects(&sched->supply, &effects);
	aftermath->kick_decoders |= effects.decodes;
	if (effects.delayed > 0) {
		stats_add(STAT_RETRIES, effects.delayed);
		pthread_cond_signal(&sched->house_cond);
	}
	for (struct wanted *wanted = effects.moved; wanted; wanted = wanted->also)
		wanted_moved_locked(wanted, effects.moved_ns);
	if (effects.gone)
		space_gone_locked(effects.gone, effects.gone_sample);
	if (effects.bad)
		skip_found_locked(effects.bad, effects.bad_sample, effects.damaged);
	answer_locked(sched, &effects.ready, aftermath);
}

void supply_execute_locked(struct sched *sched, struct aftermath *aftermath)
{
	bool *reads = &sched->supply.effects.reads;
	lock_assert_held(&sched->lock);
	aftermath->kick |= *reads;
	*reads = false;
	if (supply_has_effects(&sched->supply))
		execute_all_locked(sched, aftermath);
}

int wanted_request_locked(struct sched_job *job, struct wanted *wanted, bool urgent,
	struct aftermath *aftermath)
{
	struct want want = {.job = &job->share, .id = job->is.id, .urgent = urgent};
	lock_assert_held(&job->sched->lock);
	if (wanted->state == WANTED_OPEN_ONLY)
		want.needs =
			wanted_needs_of(wanted->key.space, (sample_id)wanted->key.sample);
	int err = supply_want(&job->sched->supply, wanted, &want);
	supply_execute_locked(job->sched, aftermath);
	return err;
}

void handle_detach_locked(struct sched_handle *handle, struct aftermath *aftermath)
{
	struct sched *sched = handle->job->sched;
	lock_assert_held(&sched->lock);
	if (handle->wanted)
		supply_detach(handle->wanted, &handle->job->share);
	else
		supply_close(handle->space, handle->in_space);
	handle->space = NULL;
	handle->wanted = NULL;
	handle->tensor = NULL;
	supply_execute_locked(sched, aftermath);
}

void unpin_locked(struct space *space, sample_id sample, struct aftermath *aftermath)
{
	lock_assert_held(&sched_of_source(space->source)->lock);
	supply_drop(space, sample);
	supply_execute_locked(sched_of_source(space->source), aftermath);
}

int sched_hold_content(struct sched *sched, uint64_t bytes)
{
	LOCK_SCOPE(&sched->lock);
	return supply_hold_content(&sched->supply, bytes);
}

void sched_drop_content(struct sched *sched, uint64_t bytes)
{
	LOCK_SCOPE(&sched->lock);
	supply_drop_content(&sched->supply, bytes);
	if (sched->supply.lack_room == 0)
		return;
	sched->room_made = true;
	pthread_cond_signal(&sched->house_cond);
}

void space_drawn_locked(
	struct space *space, sample_id sample, const struct sampler *sampler)
{
	lock_assert_held(&sched_of_source(space->source)->lock);
	const struct source *source = space->source;
	if (sampler == source->shuffled && source->labelled)
		sampler_resident(source->labelled, space->number, sample);
}

void space_gone_locked(struct space *space, sample_id sample)
{
	lock_assert_held(&sched_of_source(space->source)->lock);
	const struct source *source = space->source;
	sampler_evicted(source->shuffled, space->number, sample);
	if (source->labelled)
		sampler_evicted(source->labelled, space->number, sample);
}

void sched_cache_gone(void *context, struct cache_space *cache, sample_id sample)
{
	const struct sched *sched = context;
	for (size_t i = 0; i < sched->supply.n_sources; i++) {
		struct space *space;
		LIST_FOREACH (space, &sched->sources[i].is.spaces, link) {
			if (space->cache != cache)
				continue;
			space_gone_locked(space, sample);
			same_gone(space, sample);
		}
	}
}
