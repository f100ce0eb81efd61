// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "draw/draw.h"
#include "edition/edition.h"
#include "epoch/questions.h"
#include "sched/jobs.h"
#include "sched/drawing.h"
#include "sched/supplying.h"
#include "stats/stats.h"
#include "supply/supply.h"

uint32_t lookahead_of(const struct job *job, const struct space *space)
{
	const struct job_config *config = &job->config;
	uint32_t twice = 2 * space->source->storage->flight.limit;
	uint32_t least = config_lookahead(config);
	return config->lookahead == 0 && twice > least ? twice : least;
}

void streams_tell_lookahead_locked(struct sched *sched)
{
	struct stream *stream;
	lock_assert_held(&sched->lock);
	TAILQ_FOREACH (stream, &sched->draw.streams, link)
		for (size_t i = 0; i < stream->n_strands; i++)
			stream->strands[i].lookahead = lookahead_of(
				stream->edition->job, stream->strands[i].space);
}

void stream_free(struct stream *stream)
{
	edition_let_go(stream->edition);
	draw_drop_samples(stream);
	free(stream->strands);
	free(stream);
}

static void count_draw(enum served served)
{
	stats_add(STAT_DRAWS, 1);
	stats_add(served == SERVED_HIT	    ? STAT_DRAWN_HIT
		  : served == SERVED_SHARED ? STAT_DRAWN_SHARED
					    : STAT_DRAWN_DECODE,
		1);
}

/* Pins a drawn sample, requests it from the supply unless it is resident, and passes it to the
 * job's engine. If there is no memory for the pin or the request, the sample is prepared only at
 * its open, and the sampler learns that this draw does not bring the sample into the cache. The
 * need is reduced after the pin: pinned samples have no place in the order of eviction, so the
 * cache need not move the sample to another place. */
static void drawn_locked(const struct draw_effect *effect, struct aftermath *aftermath)
{
	const struct stream *stream = effect->stream;
	struct sched_job *job = sched_job_of(stream->edition->job);
	struct space *space = effect->strand->space;
	sample_id id = effect->id;
	lock_assert_held(&job->sched->lock);
	struct drawn drawn = {.sample = effect->sample, .served = how_served(space, id)};
	drawn.pinned = cache_pin(space->cache, id) == 0;
	if (effect->drops)
		cache_need_drop(space->cache, id);
	bool hit = drawn.served == SERVED_HIT;
	if (!hit && drawn.pinned && cache_state(space->cache, id) == CACHE_ABSENT) {
		struct wanted *wanted = wanted_get(space, id);
		if (wanted && wanted_request_locked(job, wanted, false, aftermath) != 0)
			wanted_drop_if_unused(wanted);
	}
	if (hit || space_has(space, id))
		space_drawn_locked(space, id, effect->strand->sampler);
	else
		space_gone_locked(space, id);
	count_draw(drawn.served);
	epochs_drawn(job->is.epochs, stream->epoch, &drawn);
}

static void execute_locked(struct sched *sched, const struct draw_effect *effect,
	struct aftermath *aftermath)
{
	lock_assert_held(&sched->lock);
	switch (effect->kind) {
	case DRAW_DROP:
		cache_need_drop(effect->strand->space->cache, effect->id);
		break;
	case DRAW_DRAWN:
		drawn_locked(effect, aftermath);
		break;
	case DRAW_LOW:
		if (!aftermath->refill)
			aftermath->refill = sched_job_hold(
				sched_job_of(effect->stream->edition->job));
		break;
	case DRAW_LEAVE:
		(void)sched_job_hold(sched_job_of(effect->stream->edition->job));
		break;
	case DRAW_GONE:
		stream_free(effect->stream);
		break;
	case DRAW_EFFECT_KINDS:
		ensure(!"an effect");
	}
}

static void execute_all_locked(struct sched *sched, struct aftermath *aftermath)
{
	lock_assert_held(&sched->lock);
	for (size_t i = 0; i < sched->draw.n_effects; i++)
		execute_locked(sched, &sched->draw.effects[i], aftermath);
}

static struct ahead_cache cache_facts_locked(const struct sched *sched)
{
	const struct cache_usage *usage = cache_usage(sched->cache);
	lock_assert_held(&sched->lock);
	return (struct ahead_cache){.capacity = usage->capacity,
		.pinned_bytes = usage->pinned_bytes,
		.awaited = usage->awaited};
}

/* Prefetches, for the processor, the cache entries of the samples that opens will bind next. */
static void prefetch(const struct stream *stream, sample_id next, sample_id after)
{
	const struct strand *strand;
	if (after != SAMPLE_NONE) {
		strand = strand_of(stream, after);
		cache_prefetch_place(strand->space->cache, after - strand->first);
	}
	if (next != SAMPLE_NONE) {
		strand = strand_of(stream, next);
		cache_prefetch_entry(strand->space->cache, next - strand->first);
	}
}

void draw_bound_locked(struct sched_job *job, uint32_t epoch, struct aftermath *aftermath)
{
	struct draw *draw = &job->sched->draw;
	struct stream *stream = draw_find(draw, job->is.id, epoch);
	lock_assert_held(&job->sched->lock);
	if (!stream)
		return;
	struct epochs_coming coming = epochs_coming(job->is.epochs, epoch);
	prefetch(stream, coming.next[0], coming.next[1]);
	draw_bound(draw, stream, coming.ahead, coming.unbound);
	execute_all_locked(job->sched, aftermath);
}

void draw_asked_locked(
	struct sched_job *job, const struct effect *effect, struct aftermath *aftermath)
{
	struct sched *sched = job->sched;
	struct stream *stream = draw_find(&sched->draw, job->is.id, effect->epoch);
	struct ahead_cache cache = cache_facts_locked(sched);
	lock_assert_held(&sched->lock);
	bool labelled = stream->at_open && effect->sample == SAMPLE_NONE;
	uint32_t label =
		labelled ? edition_label_of(stream->edition, effect->position) : 0;
	streams_tell_lookahead_locked(sched);
	draw_asked(&sched->draw, stream, label, effect->sample, &cache);
	stats_add(STAT_ROUNDS, !stream->at_open);
	execute_all_locked(sched, aftermath);
}

bool draw_fed_locked(
	struct stream *stream, struct feed *feed, struct aftermath *aftermath)
{
	struct sched *sched = sched_of(stream->edition->job);
	struct ahead_cache cache = cache_facts_locked(sched);
	lock_assert_held(&sched->lock);
	bool fed = draw_fed(&sched->draw, stream, feed, &cache);
	execute_all_locked(sched, aftermath);
	return fed;
}

/* Executes the round's effects, and meanwhile prefetches the cache entry of the next round's sample
 * for the processor: waiting for that memory would take as long as the rest of a round. */
bool draw_go_on_locked(struct stream *stream, struct aftermath *aftermath)
{
	struct sched *sched = sched_of(stream->edition->job);
	struct ahead_cache cache = cache_facts_locked(sched);
	lock_assert_held(&sched->lock);
	if (!draw_go_on(&sched->draw, stream, &cache))
		return false;
	stats_add(STAT_ROUNDS, 1);
	const struct cache_space *space = stream->next->space->cache;
	sample_id next = sampler_foresee(stream->next->sampler, stream->id);
	if (next != SAMPLE_NONE)
		cache_prefetch_place(space, next);
	execute_all_locked(sched, aftermath);
	if (next != SAMPLE_NONE)
		cache_prefetch_entry(space, next);
	return true;
}

bool draw_fetched_locked(
	const struct space *space, sample_id id, struct aftermath *aftermath)
{
	struct sched *sched = sched_of_source(space->source);
	lock_assert_held(&sched->lock);
	bool of_training = draw_fetched(&sched->draw, space, id);
	execute_all_locked(sched, aftermath);
	return of_training;
}

void draw_end_locked(struct sched_job *job, uint32_t epoch, struct aftermath *aftermath)
{
	struct sched *sched = job->sched;
	struct stream *stream = draw_find(&sched->draw, job->is.id, epoch);
	lock_assert_held(&sched->lock);
	if (!stream)
		return;
	draw_end(&sched->draw, stream);
	execute_all_locked(sched, aftermath);
	cache_trim(sched->cache);
	aftermath->kick = true;
}
