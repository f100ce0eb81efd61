// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"
#include "base/ensure.h"

/* Sums of one space, counted anew from jobs, streams, epochs and uses. */

static uint32_t count_need(const struct space *space, sample_id id)
{
	const struct stream *stream;
	uint32_t n = 0;
	TAILQ_FOREACH (stream, &space->source->sched->streams, link) {
		if (stream->job->space == space)
			n += stream_contains(stream, id);
	}
	TAILQ_FOREACH (stream, &space->source->sched->counted, link) {
		if (stream->job->space == space)
			n += stream_counts(stream, id);
	}
	return n;
}

static uint32_t count_queued(const struct space *space, sample_id id)
{
	const struct stream *stream;
	uint32_t n = 0;
	TAILQ_FOREACH (stream, &space->source->sched->streams, link) {
		uint32_t size = stream->job->config.lookahead;
		ensure(stream->length <= size);
		if (stream->job->space != space)
			continue;
		for (uint32_t i = 0; i < stream->length; i++) {
			const struct drawn *drawn =
				&stream->queue[(stream->head + i) % size];
			n += drawn->pinned && drawn->sample == id;
		}
	}
	return n;
}

static uint32_t count_bound_pins(const struct space *space, sample_id id)
{
	const struct sched_job *job;
	uint32_t n = 0;
	TAILQ_FOREACH (job, &space->source->sched->jobs, link) {
		for (uint32_t e = 0; job->space == space && e < job->config.epochs; e++) {
			const struct bound_pin *pin;
			if (!job->epochs[e])
				continue;
			TAILQ_FOREACH (pin, &job->epochs[e]->pin_order, link)
				n += pin->sample == id;
		}
	}
	return n;
}

static void validate_sample(struct space *space, sample_id id)
{
	const struct use *use = use_find_locked(space, id);
	uint32_t opens = use ? use->opens : 0;
	ensure(cache_need(space->cache, id) == count_need(space, id));
	ensure(cache_pins(space->cache, id) ==
		count_queued(space, id) + count_bound_pins(space, id) + opens);
	if (use && use->state == USE_LOADING)
		ensure(cache_state(space->cache, id) == CACHE_LOADING);
	if (use && !TAILQ_EMPTY(&use->waiters))
		ensure(use->state == USE_URGENT || use->state == USE_LOADING);
}

static void validate_source(struct source *source)
{
	struct space *space;
	sampler_validate(source->shuffled);
	sampler_validate(source->sequential);
	if (source->labelled)
		sampler_validate(source->labelled);
	LIST_FOREACH (space, &source->spaces, link) {
		for (sample_id id = 0; id < dataset_ids(source->dataset); id++)
			validate_sample(space, id);
	}
}

static void validate_epoch(const struct epoch *epoch)
{
	ensure(epoch->consumed <= epoch->order.samples);
	if (!epoch->stream)
		return;
	ensure(!epoch->over && epoch->stream->epoch == epoch);
	ensure(epoch->order.bound + epoch->stream->length +
			stream_remaining(epoch->stream) ==
		epoch->order.samples);
}

static void validate_labels(const struct epoch *epoch)
{
	const struct sched_job *job = epoch->job;
	for (uint32_t k = 0; job->label_begin && k < epoch->order.bound; k++) {
		struct sched_binding binding;
		order_binding(&epoch->order, k, &binding);
		ensure(dataset_label(job->source->dataset, binding.sample) ==
			job_label_of(job, binding.position));
	}
}

/* Only the running epoch and the one that drains have streams. */
static void validate_job(const struct sched_job *job)
{
	for (uint32_t i = 0; i < job->config.epochs; i++) {
		const struct epoch *epoch = job->epochs[i];
		if (!epoch)
			continue;
		ensure(!epoch->stream || epoch == job->running || epoch == job->draining);
		validate_epoch(epoch);
		validate_labels(epoch);
	}
	ensure(!job_mirrors(job) || !job->running);
}

void sched_validate(struct sched *sched)
{
	LOCK_SCOPE(&sched->lock);
	const struct sched_job *job;
	for (size_t i = 0; i < sched->n_sources; i++)
		validate_source(&sched->sources[i]);
	TAILQ_FOREACH (job, &sched->jobs, link)
		validate_job(job);
	cache_validate(sched->cache);
}
