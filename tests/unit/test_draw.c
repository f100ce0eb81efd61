// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "draw_world.h"
#include "effort.h"

/*
 * Random events for the draw engine, beside a twin that computes by brute force which streams a
 * round has to serve, and when a stream is low. draw_world.h counts need and samples anew.
 */

#define STEPS effort(20000, 400000)
#define TRIALS 6

struct twin {
	struct draw_world world;
	struct rng rng;
	uint32_t filled[JOBS][2]; /* samples ahead after the last refill */
	uint32_t received[JOBS][2];
};

static uint32_t ahead_of(const struct world_stream *s)
{
	return s->end - s->head;
}

static bool remains(const struct world_stream *s)
{
	return !s->waits && s->end < world_positions(s->job);
}

static size_t count_live(const struct draw_world *world)
{
	size_t n = 0;
	for (size_t i = 0; i < (size_t)JOBS * 2; i++)
		n += world->streams[i / 2][i % 2].live;
	return n;
}

static bool has_room(const struct draw_world *world, const struct world_stream *s)
{
	uint32_t share = world->capacity / 4 / (uint32_t)count_live(world);
	if (!remains(s) || ahead_of(s) >= s->job->lookahead)
		return false;
	return ahead_of(s) < (share ? share : 1) ||
	       world_pinned(world) + 1 <= world->capacity / 2;
}

static bool joins(const struct draw_world *world, const struct world_stream *s)
{
	bool batch = remains(s) && ahead_of(s) < s->job->lookahead &&
		     ahead_of(s) < s->job->at_once;
	return has_room(world, s) || batch;
}

/* Returns the dataset of the stream's next sample; DATASETS: no sampler draws it. */
static size_t next_of(const struct world_stream *s)
{
	return s->stream.next->sampler
		       ? s->job->dataset + (size_t)(s->stream.next - s->strands)
		       : DATASETS;
}

static bool draws_from(const struct world_stream *s, size_t dataset)
{
	return dataset < DATASETS && next_of(s) < DATASETS &&
	       dataset >= s->job->dataset &&
	       dataset < s->job->dataset + s->job->n_datasets;
}

static bool wants(const struct draw_world *world, const struct world_stream *s)
{
	if (!has_room(world, s))
		return false;
	if (ahead_of(s) < (s->job->lookahead + 1) / 2)
		return true;
	for (size_t i = 0; i < (size_t)JOBS * 2; i++) {
		const struct world_stream *other = &world->streams[i / 2][i % 2];
		if (other->live && draws_from(other, next_of(s)) &&
			ahead_of(other) >= other->job->lookahead)
			return false;
	}
	return true;
}

static bool remains_in(const struct world_stream *s, size_t dataset)
{
	size_t part = dataset - s->job->dataset;
	for (sample_id id = 0; id < IDS; id++)
		if (roaring_bitmap_contains(s->job->selection[part], id) &&
			!s->given[part * IDS + id])
			return true;
	return false;
}

/* Returns the dataset of a round for the stream. */
static size_t round_of(const struct draw_world *world, const struct world_stream *s)
{
	const struct stream *stream;
	size_t dataset = next_of(s);
	TAILQ_FOREACH (stream, &world->draw.streams, link) {
		const struct world_stream *other = (const struct world_stream *)stream;
		if (draws_from(other, dataset) && next_of(other) != dataset &&
			remains_in(other, dataset) && wants(world, other))
			return next_of(other);
	}
	return dataset;
}

struct expected {
	bool joins[JOBS][2];
	uint32_t end[JOBS][2];
};

static struct expected expect_round(const struct draw_world *world, size_t dataset)
{
	struct expected expected = {0};
	for (size_t i = 0; i < (size_t)JOBS * 2; i++) {
		const struct world_stream *s = &world->streams[i / 2][i % 2];
		expected.end[i / 2][i % 2] = s->end;
		expected.joins[i / 2][i % 2] = s->live && dataset < DATASETS &&
					       next_of(s) == dataset && joins(world, s);
	}
	return expected;
}

/* Checks that each expected stream has got one sample, and no other stream any. */
static void check_round(struct twin *twin, const struct expected *expected)
{
	for (size_t i = 0; i < JOBS; i++)
		for (size_t k = 0; k < 2; k++) {
			const struct world_stream *s = &twin->world.streams[i][k];
			cr_assert_eq(s->end - expected->end[i][k], expected->joins[i][k],
				"stream %zu/%zu", i + 1, k);
			if (s->live && twin->filled[i][k] < ahead_of(s))
				twin->filled[i][k] = ahead_of(s);
		}
}

static uint32_t *filled_of(struct twin *twin, const struct world_stream *s)
{
	return &twin->filled[s->job->id - 1][s->stream.epoch % 2];
}

static void go_on(struct twin *twin, struct world_stream *s)
{
	struct draw_world *world = &twin->world;
	if (s->job->training || s->job->fixed)
		return;
	bool wanted = wants(world, s);
	struct expected expected =
		expect_round(world, wanted ? round_of(world, s) : DATASETS);
	cr_assert_eq(world_go_on(world, s), wanted);
	check_round(twin, &expected);
	if (!wanted)
		*filled_of(twin, s) =
			has_room(world, s) ? s->job->lookahead : ahead_of(s);
}

static void ask(struct twin *twin, struct world_stream *s)
{
	struct draw_world *world = &twin->world;
	if (s->job->training || ahead_of(s) > 0 || !remains(s))
		return;
	struct expected expected = expect_round(world, next_of(s));
	if (s->job->fixed)
		expected.joins[s->job->id - 1][s->stream.epoch % 2] = true;
	world_ask(world, s);
	check_round(twin, &expected);
}

static void bind(struct twin *twin, struct world_stream *s)
{
	if (ahead_of(s) == 0)
		return;
	world_bind(&twin->world, s);
	cr_assert_eq(twin->world.low,
		!s->job->fixed && 2 * ahead_of(s) <= *filled_of(twin, s));
}

/* A rank receives a sample that no other rank of the epoch has. Samples come in the order of
 * ids. */
static void receive(struct twin *twin, struct world_stream *s)
{
	uint32_t *received = &twin->received[s->job->id - 1][s->stream.epoch % 2];
	sample_id id = *received * 2 + s->job->id % 2;
	struct feed *feed = feed_find(&s->job->feeds, s->stream.epoch);
	if (!s->job->training || id >= IDS)
		return;
	if (!feed)
		feed = feed_begin(&s->job->feeds, s->stream.epoch, 0);
	cr_assert_eq(0, feed_append(feed, feed->next, &id, 1));
	cr_assert_eq(feed_at(feed, feed->next - 1), id);
	++*received;
}

static void feed(struct twin *twin, struct world_stream *s)
{
	if (!s->job->training)
		return;
	const struct feed *from = feed_find(&s->job->feeds, s->stream.epoch);
	bool expected = from && from->n > 0 && has_room(&twin->world, s);
	sample_id next = expected ? from->ids[from->head] : SAMPLE_NONE;
	cr_assert_eq(world_feed(&twin->world, s), expected);
	if (expected)
		cr_assert_eq(s->queue[s->end - 1], next);
	if (*filled_of(twin, s) < ahead_of(s))
		*filled_of(twin, s) = ahead_of(s);
}

/* Ends the stream. A rank ends less often than other streams, because the samples of its feed are
 * given only once. */
static void end(struct twin *twin, struct world_stream *s)
{
	if (!s->job->training || rng_below(&twin->rng, 2))
		world_leave(&twin->world, s);
}

/* Tells whether ranks still read another epoch with the same place in `asked`. */
static bool is_taken(const struct draw_world *world, uint32_t epoch)
{
	const struct stream *other;
	TAILQ_FOREACH (other, &world->draw.streams, link)
		if (other->training && other->epoch != epoch &&
			other->epoch % 2 == epoch % 2)
			return true;
	return false;
}

static void begin(struct twin *twin, struct world_job *job)
{
	struct world_stream *streams = twin->world.streams[job->id - 1];
	uint32_t epoch = 0;
	for (size_t k = 0; k < 2; k++)
		if (streams[k].stream.epoch >= epoch && streams[k].job)
			epoch = streams[k].stream.epoch + 1;
	if (streams[epoch % 2].live || (job->training && is_taken(&twin->world, epoch)))
		return;
	twin->filled[job->id - 1][epoch % 2] = twin->received[job->id - 1][epoch % 2] = 0;
	world_enter(&twin->world, job, epoch);
	world_validate(&twin->world);
}

/* Changes the look-ahead, as when a storage rewards more reads. */
static void change_lookahead(struct twin *twin, struct world_job *job)
{
	job->lookahead = 1 + (uint32_t)rng_below(&twin->rng, 24);
	for (size_t k = 0; k < (size_t)2 * DATASETS; k++)
		twin->world.streams[job->id - 1][k / DATASETS]
			.strands[k % DATASETS]
			.lookahead = job->lookahead;
}

static void step(struct twin *twin)
{
	struct world_job *job = &twin->world.jobs[rng_below(&twin->rng, JOBS)];
	struct world_stream *s =
		&twin->world.streams[job->id - 1][rng_below(&twin->rng, 2)];
	switch (rng_below(&twin->rng, 40)) {
	case 0:
		begin(twin, job);
		return;
	case 1:
		change_lookahead(twin, job);
		return;
	case 2:
		twin->world.capacity = 1 + (uint32_t)rng_below(&twin->rng, 60);
		return;
	case 3:
		world_fetch(&twin->world, 0, (sample_id)rng_below(&twin->rng, IDS));
		return;
	case 4:
		s->waits = s->live && !s->waits;
		draw_ready(&s->stream, !s->waits);
		return;
	case 5:
	case 6:
		if (s->live)
			end(twin, s);
		return;
	}
	if (!s->live)
		return;
	static void (*const events[])(struct twin *, struct world_stream *) = {
		go_on, ask, bind, bind, receive, feed};
	events[rng_below(&twin->rng, sizeof(events) / sizeof(events[0]))](twin, s);
}

/* Adds a mixture, jobs that overlap, a job whose positions determine the sample, and two ranks. */
static void add_jobs(struct draw_world *world)
{
	static const unsigned all[] = {0, IDS, 1}, half[] = {0, IDS / 2, 1},
			      odd[] = {1, IDS, 2};
	world_join(world, 1, 0, 1, all)->at_once = 3;
	world_join(world, 2, 0, 2, odd);
	world_join(world, 3, 1, 1, half);
	world_join(world, 4, 0, 1, half)->fixed = true;
	world_join(world, 5, 0, 1, all)->training = "t";
	world_join(world, 6, 0, 1, all)->training = "t";
}

static void play(enum sampler_kind kind, uint64_t seed)
{
	static struct twin twin;
	memset(&twin, 0, sizeof(twin));
	rng_seed(&twin.rng, seed);
	world_begin(&twin.world, kind, seed, 1 + (uint32_t)rng_below(&twin.rng, 60));
	add_jobs(&twin.world);
	for (unsigned i = 0, n = STEPS; i < n; i++)
		step(&twin);
	world_end(&twin.world);
	for (size_t i = 0; i < (size_t)DATASETS * IDS; i++)
		cr_assert_eq(twin.world.need[i / IDS][i % IDS] +
				     twin.world.pins[i / IDS][i % IDS],
			0);
}

Test(draw, random_events_have_the_effects_of_the_twin)
{
	for (uint64_t seed = 0; seed < TRIALS; seed++)
		play(seed % 2 ? SAMPLER_ISA : SAMPLER_DSA, seed);
}

Test(draw, in_a_full_cache_each_stream_has_its_part_of_a_quarter)
{
	static struct draw_world world;
	static const unsigned all[] = {0, IDS, 1};
	struct world_stream *streams[2];
	world_begin(&world, SAMPLER_DSA, 1, 40);
	for (job_id i = 0; i < 2; i++) {
		struct world_job *job = world_join(&world, i + 1, i, 1, all);
		job->lookahead = 24;
		streams[i] = world_enter(&world, job, 0);
	}
	for (size_t i = 0; i < 2; i++)
		while (world_go_on(&world, streams[i]))
			;
	cr_expect_eq(ahead_of(streams[0]), 40 / 2);
	cr_expect_eq(ahead_of(streams[1]), 40 / 4 / 2);
	world_end(&world);
}
