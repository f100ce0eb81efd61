// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "draw/draw.h"
#include "edition/edition.h"
#include "sched/sched.h"
#include "sched/drawing.h"
#include "supply/supply.h"
#include "epoch/questions.h"

/* Compares stored numbers with numbers counted anew over jobs, streams and epochs. */

static bool needs(const struct stream *stream, const struct space *space, sample_id id)
{
	const struct strand *strand = strand_in(stream, space);
	return strand && strand_needs(stream, strand, id);
}

static uint32_t count_need(const struct space *space, sample_id id)
{
	const struct draw *draw = &sched_of_source(space->source)->draw;
	const struct stream *stream;
	uint32_t n = 0;
	TAILQ_FOREACH (stream, &draw->streams, link)
		n += needs(stream, space, id);
	TAILQ_FOREACH (stream, &draw->counted, link)
		n += needs(stream, space, id);
	return n;
}

static uint32_t count_pins_of_job(
	const struct sched_job *job, const struct space *space, sample_id id)
{
	const struct edition *edition;
	uint32_t n = 0;
	TAILQ_FOREACH (edition, &job->is.editions, link) {
		const struct part *part = edition_part_in(edition, space);
		n += part ? epochs_pins_of(job->is.epochs, edition, part->first + id) : 0;
	}
	return n;
}

/* Counts the engines' pins: for drawn samples not bound, and bound samples not consumed. */
static uint32_t count_engine_pins(const struct space *space, sample_id id)
{
	const struct sched_job *job;
	uint32_t n = 0;
	TAILQ_FOREACH (job, &sched_of_source(space->source)->jobs, link)
		n += count_pins_of_job(job, space, id);
	return n;
}

static void validate_sample(struct space *space, sample_id id)
{
	const struct wanted *wanted = wanted_find(space, id);
	uint32_t opens = cache_opens(space->cache, id) + (wanted ? wanted->opens : 0);
	ensure(cache_need(space->cache, id) == count_need(space, id));
	ensure(cache_pins(space->cache, id) == count_engine_pins(space, id) + opens);
}

static void validate_source(struct source *source)
{
	struct space *space;
	sampler_validate(source->shuffled);
	if (source->labelled)
		sampler_validate(source->labelled);
	LIST_FOREACH (space, &source->spaces, link) {
		for (sample_id id = 0; id < dataset_ids(source->dataset); id++)
			validate_sample(space, id);
	}
}

static void validate_stream(const struct stream *stream)
{
	const struct sched_job *job = sched_job_of(stream->edition->job);
	struct epochs_coming coming = epochs_coming(job->is.epochs, stream->epoch);
	ensure(stream->ahead == coming.ahead && stream->unbound == coming.unbound);
	ensure(stream->unbound == stream_remaining(stream));
}

static void validate_labels(const struct sched_job *job, uint32_t epoch)
{
	struct order order = epochs_order(job->is.epochs, epoch);
	const struct edition *edition = edition_of_locked(&job->is, epoch);
	for (uint32_t k = 0; edition_fixes_labels(edition) && k < order.bound; k++) {
		struct binding binding = order_binding(&order, k);
		ensure(dataset_label(edition->is.dataset, binding.sample) ==
			edition_label_of(edition, binding.position));
	}
}

static void validate_job(const struct sched_job *job)
{
	struct epochs_status status;
	epochs_validate(job->is.epochs);
	epochs_status(job->is.epochs, &status);
	if (status.started)
		validate_labels(job, status.epoch);
	ensure(job_kind(&job->is) != EPOCHS_MIRRORED || !status.started);
}

void sched_validate(struct sched *sched)
{
	LOCK_SCOPE(&sched->lock);
	const struct sched_job *job;
	const struct stream *stream;
	for (size_t i = 0; i < sched->supply.n_sources; i++)
		if (sched->sources[i].is.dataset)
			validate_source(&sched->sources[i].is);
	TAILQ_FOREACH (job, &sched->jobs, link)
		validate_job(job);
	TAILQ_FOREACH (stream, &sched->draw.streams, link)
		validate_stream(stream);
	draw_validate(&sched->draw);
	supply_validate(&sched->supply);
	cache_validate(sched->cache);
}
