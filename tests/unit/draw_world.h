// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "draw/draw.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A world around the draw engine, without threads, images and epoch engines: a cache that counts
 * need and pins, and a queue of drawn samples for each stream. It executes each effect, and prints
 * it to `out` unless that is NULL. After each event the engine is validated, and need and samples
 * are counted anew.
 */

#define IDS 40 /* samples of a dataset */
#define DATASETS 2
#define JOBS 6

struct world_job {
	job_id id;		    /* 0: no such job */
	size_t n_datasets, dataset; /* with two datasets: the number of the first one */
	roaring_bitmap_t *selection[DATASETS];
	uint32_t lookahead, at_once;
	bool fixed;	      /* the position determines the sample */
	const char *training; /* the only training, of dataset 0; NULL: no rank */
	struct feeds feeds;
};

struct world_stream {
	struct stream stream;
	struct strand strands[DATASETS];
	struct world_job *job;
	bool live;
	bool waits; /* the stream may not draw */
	/* drawn and not bound samples: indexes [head, end) */
	sample_id queue[DATASETS * IDS];
	uint32_t head, end, bound;
	bool given[DATASETS * IDS]; /* samples that the epoch was given */
};

struct draw_world {
	struct draw draw;
	struct sampler *samplers[DATASETS];
	char spaces[DATASETS];
	uint32_t need[DATASETS][IDS], pins[DATASETS][IDS];
	uint32_t capacity; /* samples */
	struct world_job jobs[JOBS];
	struct world_stream streams[JOBS][2]; /* by parity of the epoch */
	bool asked[2]
		  [IDS]; /* by parity of the epoch: samples that the training asks for */
	FILE *out;
	const char *comma;
	size_t drawn; /* DRAWN effects of the latest event */
	bool low;     /* the latest event had a LOW effect */
};

static inline void world_begin(struct draw_world *world, enum sampler_kind kind,
	uint64_t seed, uint32_t capacity)
{
	*world = (struct draw_world){.capacity = capacity};
	draw_init(&world->draw);
	world->draw.seed = seed;
	for (size_t i = 0; i < DATASETS; i++)
		cr_assert_eq(0, sampler_new(kind, seed + i, &world->samplers[i]));
}

static inline size_t world_dataset(
	const struct draw_world *world, const struct space *space)
{
	return (size_t)((const char *)space - world->spaces);
}

#define TENSOR_BYTES 10

/* Half of the pinned samples are not in the cache yet. */
static inline struct ahead_cache world_cache(const struct draw_world *world)
{
	struct ahead_cache cache = {.capacity = world->capacity * TENSOR_BYTES};
	for (size_t i = 0; i < DATASETS * IDS; i++)
		if (world->pins[i / IDS][i % IDS] > 0 && i % 2)
			cache.awaited++;
		else if (world->pins[i / IDS][i % IDS] > 0)
			cache.pinned_bytes += TENSOR_BYTES;
	return cache;
}

static inline uint32_t world_pinned(const struct draw_world *world)
{
	uint32_t n = 0;
	for (size_t i = 0; i < DATASETS * IDS; i++)
		n += world->pins[i / IDS][i % IDS] > 0;
	return n;
}

/* --- jobs and streams --------------------------------------------------------------------- */

/* Adds a job of some ids of the dataset, or of both datasets. */
static inline struct world_job *world_join(struct draw_world *world, job_id id,
	size_t dataset, size_t n_datasets, const unsigned range[3])
{
	struct world_job *job = &world->jobs[id - 1];
	*job = (struct world_job){.id = id,
		.dataset = dataset,
		.n_datasets = n_datasets,
		.lookahead = 4,
		.at_once = 1};
	for (size_t i = 0; i < n_datasets; i++) {
		job->selection[i] = roaring_bitmap_create();
		for (unsigned k = range[0]; k < range[1]; k += range[2])
			roaring_bitmap_add(job->selection[i], k);
		cr_assert_eq(0, sampler_join(world->samplers[dataset + i], id, 0,
					job->selection[i]));
	}
	return job;
}

static inline uint32_t world_positions(const struct world_job *job)
{
	uint64_t n = 0;
	for (size_t i = 0; i < job->n_datasets; i++)
		n += roaring_bitmap_get_cardinality(job->selection[i]);
	return (uint32_t)n;
}

static inline struct strand world_strand(
	struct draw_world *world, const struct world_job *job, size_t i)
{
	struct strand strand = {.space = (struct space *)&world->spaces[job->dataset + i],
		.sampler = job->training || job->fixed
				   ? NULL
				   : world->samplers[job->dataset + i],
		.selection = job->selection[i],
		.first = (sample_id)(i * IDS),
		.at_once = job->at_once,
		.lookahead = job->lookahead,
		.ids = roaring_bitmap_copy(job->selection[i])};
	if (strand.sampler) {
		cr_assert_eq(0, sampler_set_new(strand.sampler, &strand.set));
		cr_assert_eq(0, sampler_set_fill(strand.set, strand.ids));
	}
	return strand;
}

static inline void world_change_need(
	struct draw_world *world, const struct stream *stream, uint32_t by)
{
	for (size_t i = 0; i < stream->n_strands; i++)
		for (sample_id id = 0; id < IDS; id++)
			if (roaring_bitmap_contains(stream->strands[i].ids, id))
				world->need[world_dataset(
					world, stream->strands[i].space)][id] += by;
}

/* The first rank of an epoch asks for all samples; the ids of the others are not counted a
 * second time. */
static inline void begin_rank(struct draw_world *world, const struct stream *stream)
{
	if (!stream->training)
		return;
	if (draw_is_borne(&world->draw, stream))
		roaring_bitmap_clear(stream->strands[0].ids);
	else
		memset(world->asked[stream->epoch % 2], true, IDS);
}

/* The last rank of an epoch asks for nothing any more. */
static inline void end_rank(struct draw_world *world, const struct stream *stream)
{
	const struct stream *other;
	TAILQ_FOREACH (other, &world->draw.streams, link)
		if (other->training && other->epoch == stream->epoch)
			return;
	if (stream->training)
		memset(world->asked[stream->epoch % 2], false, IDS);
}

static inline struct world_stream *world_enter(
	struct draw_world *world, struct world_job *job, uint32_t epoch)
{
	struct world_stream *s = &world->streams[job->id - 1][epoch % 2];
	cr_assert(!s->live);
	*s = (struct world_stream){.job = job, .live = true};
	for (size_t i = 0; i < job->n_datasets; i++)
		s->strands[i] = world_strand(world, job, i);
	s->stream = (struct stream){.job = job->id,
		.epoch = epoch,
		.edition = (struct edition *)job,
		.training = job->training,
		.at_open = job->fixed,
		.tensor_bytes = TENSOR_BYTES,
		.n_strands = job->n_datasets,
		.strands = s->strands};
	begin_rank(world, &s->stream);
	draw_count(&world->draw, &s->stream);
	world_change_need(world, &s->stream, 1);
	cr_assert_eq(0, draw_enter(&world->draw, &s->stream, 0, world_positions(job)));
	draw_ready(&s->stream, true);
	draw_validate(&world->draw);
	return s;
}

/* --- effects ------------------------------------------------------------------------------ */

static inline void world_print(
	struct draw_world *world, const char *what, const char *name, uint32_t id)
{
	if (!world->out)
		return;
	fprintf(world->out, "%s%s %s%u", world->comma, what, name, id);
	world->comma = ", ";
}

static inline void drop(struct draw_world *world, const struct draw_effect *effect)
{
	world_print(world, "drop", "", effect->id);
	cr_assert_gt(
		world->need[world_dataset(world, effect->strand->space)][effect->id]--,
		0);
}

static inline void take_drawn(struct draw_world *world, const struct draw_effect *effect)
{
	struct world_stream *s = (struct world_stream *)effect->stream;
	size_t dataset = world_dataset(world, effect->strand->space);
	char name[24];
	cr_assert(s->live && !s->given[effect->sample]);
	cr_assert_eq(effect->sample, effect->strand->first + effect->id);
	cr_assert(roaring_bitmap_contains(effect->strand->selection, effect->id));
	s->given[effect->sample] = true;
	if (s->job->training)
		world->asked[s->stream.epoch % 2][effect->id] = false;
	s->queue[s->end++] = effect->sample;
	world->pins[dataset][effect->id]++;
	world->drawn++;
	snprintf(name, sizeof(name), "%u/%u:", s->job->id, s->stream.epoch);
	world_print(world, "drawn", name, effect->sample);
}

/* Removes the stream's need, as far as there are ids, and frees the stream. */
static inline void leave(struct draw_world *world, struct stream *stream, bool leaves)
{
	if (leaves) {
		cr_assert_eq(draw_take_leaving(&world->draw), stream);
		for (size_t i = 0; i < stream->n_strands; i++)
			if (!stream->strands[i].ids)
				stream->strands[i].ids =
					sampler_set_ids(stream->strands[i].set);
		world_change_need(world, stream, (uint32_t)-1);
		draw_left(&world->draw, stream);
	}
	end_rank(world, stream);
	world_print(world, leaves ? "leave" : "gone", "", stream->job);
	draw_drop_samples(stream);
	((struct world_stream *)stream)->live = false;
}

static inline void execute_one(struct draw_world *world, const struct draw_effect *effect)
{
	switch (effect->kind) {
	case DRAW_DROP:
		drop(world, effect);
		break;
	case DRAW_DRAWN:
		if (effect->drops)
			drop(world, effect);
		take_drawn(world, effect);
		break;
	case DRAW_LOW:
		world->low = true;
		world_print(world, "low", "", effect->stream->job);
		break;
	case DRAW_LEAVE:
	case DRAW_GONE:
		leave(world, effect->stream, effect->kind == DRAW_LEAVE);
		break;
	case DRAW_EFFECT_KINDS:
		cr_assert_fail("an effect");
	}
}

/* Counts the need of a sample from what the streams were given. */
static inline uint32_t count_need(
	const struct draw_world *world, size_t dataset, sample_id id)
{
	uint32_t n = 0;
	for (size_t k = 0; k < 2; k++)
		n += dataset == 0 && world->asked[k][id];
	for (size_t i = 0; i < (size_t)JOBS * 2; i++) {
		const struct world_stream *s = &world->streams[i / 2][i % 2];
		if (!s->live || s->job->training || dataset < s->job->dataset ||
			dataset >= s->job->dataset + s->job->n_datasets)
			continue;
		size_t part = dataset - s->job->dataset;
		n += roaring_bitmap_contains(s->job->selection[part], id) &&
		     !s->given[part * IDS + id];
	}
	return n;
}

static inline void world_validate(const struct draw_world *world)
{
	const struct stream *stream;
	draw_validate(&world->draw);
	TAILQ_FOREACH (stream, &world->draw.streams, link) {
		const struct world_stream *s = (const struct world_stream *)stream;
		cr_assert_eq(stream->ahead, s->end - s->head);
		cr_assert_eq(stream_remaining(stream), world_positions(s->job) - s->end);
	}
	for (size_t i = 0; i < (size_t)DATASETS * IDS; i++)
		cr_assert_eq(world->need[i / IDS][i % IDS],
			count_need(world, i / IDS, (sample_id)(i % IDS)));
}

/* Executes the effects of the latest event. */
static inline void world_execute(struct draw_world *world)
{
	world->drawn = 0;
	world->low = false;
	for (size_t i = 0; i < world->draw.n_effects; i++)
		execute_one(world, &world->draw.effects[i]);
	world_validate(world);
}

/* --- events ------------------------------------------------------------------------------- */

/* Draws one round. Returns whether a round was possible. */
static inline bool world_go_on(struct draw_world *world, struct world_stream *s)
{
	struct ahead_cache cache = world_cache(world);
	bool more = draw_go_on(&world->draw, &s->stream, &cache);
	world_execute(world);
	return more;
}

static inline void world_ask(struct draw_world *world, struct world_stream *s)
{
	struct ahead_cache cache = world_cache(world);
	sample_id fixed = s->job->fixed ? 0 : SAMPLE_NONE;
	while (s->job->fixed && (s->given[fixed] || !roaring_bitmap_contains(
							    s->job->selection[0], fixed)))
		fixed++;
	draw_asked(&world->draw, &s->stream, 0, fixed, &cache);
	world_execute(world);
}

static inline bool world_feed(struct draw_world *world, struct world_stream *s)
{
	struct ahead_cache cache = world_cache(world);
	struct feed *feed = feed_find(&s->job->feeds, s->stream.epoch);
	bool fed = feed && draw_fed(&world->draw, &s->stream, feed, &cache);
	if (fed)
		world_execute(world);
	return fed;
}

/* Binds the head of the queue, and reads it. */
static inline sample_id world_bind(struct draw_world *world, struct world_stream *s)
{
	cr_assert_lt(s->head, s->end);
	sample_id sample = s->queue[s->head++];
	const struct strand *strand = strand_of(&s->stream, sample);
	cr_assert_gt(world->pins[world_dataset(world, strand->space)]
				[sample - strand->first]--,
		0);
	draw_bound(&world->draw, &s->stream, s->end - s->head,
		world_positions(s->job) - s->end);
	world_execute(world);
	return sample;
}

static inline void world_fetch(struct draw_world *world, size_t dataset, sample_id id)
{
	const struct stream *stream;
	draw_fetched(&world->draw, (const struct space *)&world->spaces[dataset], id);
	TAILQ_FOREACH (stream, &world->draw.streams, link)
		if (dataset == 0 && stream->training &&
			world->asked[stream->epoch % 2][id]) {
			world->asked[stream->epoch % 2][id] = false;
			break;
		}
	world_execute(world);
}

/* Ends a stream, and unpins the samples of its queue. If the stream has a feed, the feed gets them
 * back. */
static inline void world_leave(struct draw_world *world, struct world_stream *s)
{
	uint32_t n = s->end - s->head;
	for (uint32_t i = s->head; i < s->end; i++) {
		const struct strand *strand = strand_of(&s->stream, s->queue[i]);
		world->pins[world_dataset(world, strand->space)]
			   [s->queue[i] - strand->first]--;
	}
	sample_id *ids = feed_return(&s->job->feeds, s->stream.epoch, n);
	if (ids)
		memcpy(ids, &s->queue[s->head], n * sizeof(*ids));
	draw_end(&world->draw, &s->stream);
	world_execute(world);
}

static inline void world_end(struct draw_world *world)
{
	for (size_t i = 0; i < JOBS; i++) {
		struct world_job *job = &world->jobs[i];
		for (size_t k = 0; k < 2; k++)
			if (world->streams[i][k].live)
				world_leave(world, &world->streams[i][k]);
		for (size_t k = 0; k < job->n_datasets; k++) {
			sampler_leave(world->samplers[job->dataset + k], job->id);
			roaring_bitmap_free(job->selection[k]);
		}
		feeds_free(&job->feeds);
	}
	for (size_t i = 0; i < DATASETS; i++)
		sampler_free(&world->samplers[i]);
	draw_free(&world->draw);
}
