// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "draw/lookahead.h"
#include "draw/draw.h"
#include "edition/edition.h"
#include "sched/jobs.h"
#include "sched/sched_internal.h"
#include "section/section.h"
#include "supply/supply.h"
#include "stats/stats.h"
#include "epoch/questions.h"

#include <errno.h>

struct stream *stream_find_locked(const struct sched_job *job, uint32_t epoch)
{
	struct stream *stream;
	lock_assert_held(&job->sched->lock);
	TAILQ_FOREACH (stream, &job->sched->streams, link)
		if (stream->job == job && stream->epoch == epoch)
			return stream;
	return NULL;
}

static uint32_t count_unbound(const struct stream *stream)
{
	struct order order = epochs_order(stream->job->epochs, stream->epoch);
	return order.positions - order.bound -
	       epochs_ahead(stream->job->epochs, stream->epoch);
}

uint32_t stream_remaining(const struct stream *stream)
{
	uint32_t n = 0;
	if (!stream->next->sampler)
		return count_unbound(stream);
	for (size_t i = 0; i < stream->n_strands; i++)
		n += strand_remaining(stream, &stream->strands[i]);
	return n;
}

/* Tells whether the sample is unbound. Only for orders in which the position determines
 * the sample: by its rank in the selection, or within its label. */
static bool is_unbound(const struct stream *stream, sample_id sample)
{
	const struct edition *edition = stream->edition;
	struct order order = epochs_order(stream->job->epochs, stream->epoch);
	if (!edition->label_begin)
		return roaring_bitmap_contains(edition->selection, sample) &&
		       order_sample_at(&order,
			       (uint32_t)roaring_bitmap_rank(edition->selection, sample) -
				       1) == SAMPLE_NONE;
	/* The samples of a label are in the order of their ids. */
	uint32_t label = dataset_label(edition->is.dataset, sample);
	uint32_t low = edition->label_begin[label],
		 high = edition->label_begin[label + 1];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (edition->by_position[middle] < sample)
			low = middle + 1;
		else
			high = middle;
	}
	return low < edition->label_begin[label + 1] &&
	       edition->by_position[low] == sample &&
	       order_sample_at(&order, low) == SAMPLE_NONE;
}

bool stream_contains(
	const struct stream *stream, const struct strand *strand, sample_id sample)
{
	if (job_is_fed(stream->job)) /* its samples are drawn elsewhere */
		return strand->ids && roaring_bitmap_contains(strand->ids, sample);
	return strand->sampler ? sampler_contains(strand->sampler, stream->id, sample)
			       : is_unbound(stream, sample);
}

/* Tells whether samples are drawn only when a position is opened: the class or position that a
 * reader will ask for is not known before. */
static bool draws_at_open(const struct sched_job *job)
{
	return job_kind(job) != EPOCHS_DRAWN;
}

/* --- how far ahead: the facts; lookahead.c has the rules ---------------------------------- */

/* Returns the positions that one open binds, for dsa. exchange draws late, since it gives what is
 * cached at the time, and isa shares no draws: 1. */
static uint32_t at_once(const struct stream *stream)
{
	const struct source *source = stream->next->part->space->source;
	enum sampler_kind kind = source->config.name
					 ? source->config.sampler
					 : stream->job->sched->config->sampler;
	return kind == SAMPLER_DSA ? job_binds_at_once(&stream->job->config) : 1;
}

/* Returns the configured look-ahead; by default at least twice the reads in flight, which keeps
 * the storage busy while samples are decoded. */
static uint32_t lookahead_of(const struct stream *stream)
{
	const struct job_config *config = &stream->job->config;
	const struct source *source = stream->next->part->space->source;
	uint32_t twice = 2 * source->storage->flight.limit;
	uint32_t least = config_lookahead(config);
	return config->lookahead == 0 && twice > least ? twice : least;
}

static struct ahead ahead_of(const struct stream *stream)
{
	const struct sched_job *job = stream->job;
	uint64_t typical = stream->edition->typical_bytes;
	return (struct ahead){.may_draw = stream->ready,
		.lookahead = lookahead_of(stream),
		.at_once = at_once(stream),
		.length = epochs_ahead(job->epochs, stream->epoch),
		.filled = stream->filled,
		.remaining = stream_remaining(stream),
		.tensor_bytes = typical ? typical : 1,
		.streams = job->sched->n_streams,
		.cache = cache_held(job->sched->cache)};
}

bool stream_has_room(const struct stream *stream)
{
	struct ahead ahead = ahead_of(stream);
	return ahead_has_room(&ahead);
}

static bool may_join(const struct stream *stream)
{
	struct ahead ahead = ahead_of(stream);
	return ahead_may_join(&ahead);
}

static bool another_is_full(const struct stream *stream)
{
	const struct stream *other;
	TAILQ_FOREACH (other, &stream->job->sched->streams, link) {
		if (!strand_from(other, stream->next->sampler))
			continue;
		struct ahead ahead = ahead_of(other);
		if (ahead_is_full(&ahead))
			return true;
	}
	return false;
}

static bool wants_round(const struct stream *stream)
{
	struct ahead ahead = ahead_of(stream);
	return ahead_wants_round(&ahead, another_is_full(stream));
}

static void count_draw(enum served served)
{
	stats_add(STAT_DRAWS, 1);
	stats_add(served == SERVED_HIT	    ? STAT_DRAWN_HIT
		  : served == SERVED_SHARED ? STAT_DRAWN_SHARED
					    : STAT_DRAWN_DECODE,
		1);
}

/* Pins a sample and requests it. If there is no memory for that, the sample is prepared only when
 * it is opened. The sampler assumes that each sample it gave becomes resident, so it is told
 * that this one does not. */
void stream_hold_locked(
	struct stream *stream, sample_id sample, struct aftermath *aftermath)
{
	const struct strand *strand = strand_of(stream, sample);
	struct space *space = strand->part->space;
	sample_id id = sample - strand->part->first;
	lock_assert_held(&stream->job->sched->lock);
	struct drawn drawn = {.sample = sample, .served = how_served(space, id)};
	if (job_is_fed(stream->job))
		demand_drawn_locked(stream, sample);
	else
		cache_need_drop(space->cache, id);
	drawn.pinned = cache_pin(space->cache, id) == 0;
	if (drawn.pinned && cache_state(space->cache, id) == CACHE_ABSENT) {
		struct wanted *wanted = wanted_get(space, id);
		if (wanted &&
			wanted_request_locked(stream->job, wanted, false, aftermath) != 0)
			wanted_drop_if_unused(wanted);
	}
	if (space_has(space, id))
		space_drawn_locked(space, id, strand->sampler);
	else
		space_gone_locked(space, id);
	count_draw(drawn.served);
	epochs_drawn(stream->job->epochs, stream->epoch, &drawn);
	uint32_t length = epochs_ahead(stream->job->epochs, stream->epoch);
	if (stream->filled < length)
		stream->filled = length;
}

/* Takes a sample from the stream's next strand, pins it, and chooses the strand after
 * it. */
static void hold_next_locked(
	struct stream *stream, sample_id id, struct aftermath *aftermath)
{
	lock_assert_held(&stream->job->sched->lock);
	ensure(id != SAMPLE_NONE);
	stream_hold_locked(stream, stream->next->part->first + id, aftermath);
	stream_choose_next_locked(stream);
}

/* Draws one round for all streams that may join it and whose next sample comes from the sampler.
 * false: there are none. */
static bool draw_round_locked(
	struct sched *sched, const struct sampler *sampler, struct aftermath *aftermath)
{
	struct stream *stream;
	size_t n = 0;
	lock_assert_held(&sched->lock);
	TAILQ_FOREACH (stream, &sched->streams, link) {
		if (stream->next->sampler != sampler || !may_join(stream))
			continue;
		sched->round_streams[n] = stream;
		sched->round_ids[n++] = stream->id;
	}
	if (n == 0)
		return false;
	sampler_draw(sched->round_streams[0]->next->sampler, sched->round_ids, n,
		sched->round_samples);
	stats_add(STAT_ROUNDS, 1);
	for (size_t i = 0; i < n; i++)
		hold_next_locked(
			sched->round_streams[i], sched->round_samples[i], aftermath);
	return true;
}

/* Returns the sampler of the stream's next round. If another stream wants a round and
 * could take part in this one, but has its next sample in another sampler, returns that
 * sampler first: the more streams a round has, the more they share. */
static const struct sampler *choose_sampler_locked(const struct stream *stream)
{
	const struct sampler *sampler = stream->next->sampler;
	const struct stream *other;
	lock_assert_held(&stream->job->sched->lock);
	TAILQ_FOREACH (other, &stream->job->sched->streams, link) {
		const struct strand *strand = strand_from(other, sampler);
		if (strand && strand != other->next &&
			strand_remaining(other, strand) > 0 && wants_round(other))
			return other->next->sampler;
	}
	return sampler;
}

static bool is_low(const struct stream *stream)
{
	if (draws_at_open(stream->job))
		return false;
	struct ahead ahead = ahead_of(stream);
	return ahead_is_low(&ahead);
}

void stream_refill_locked(const struct stream *stream, struct aftermath *aftermath)
{
	lock_assert_held(&stream->job->sched->lock);
	if (is_low(stream) && !aftermath->refill)
		aftermath->refill = sched_job_hold(stream->job);
}

#define STEP_ROUNDS 8

/* Draws some rounds; false: the stream wants no further one. */
static bool fill_some_locked(struct stream *stream, struct aftermath *aftermath)
{
	struct sched *sched = stream->job->sched;
	lock_assert_held(&sched->lock);
	for (int i = 0; i < STEP_ROUNDS; i++)
		if (!wants_round(stream) ||
			!draw_round_locked(
				sched, choose_sampler_locked(stream), aftermath)) {
			struct ahead ahead = ahead_of(stream);
			stream->filled = ahead_refilled(&ahead);
			return false;
		}
	return true;
}

/* Fills the job's streams, of which there are two at most: of the running epoch and of
 * the draining one. Returns true if there is more to draw. */
static bool fill_all_locked(struct sched_job *job, struct aftermath *aftermath)
{
	struct stream *stream;
	bool more = false;
	lock_assert_held(&job->sched->lock);
	TAILQ_FOREACH (stream, &job->sched->streams, link) {
		if (stream->job != job)
			continue;
		if (job_is_fed(job))
			feed_fill_locked(stream, aftermath);
		else if (fill_some_locked(stream, aftermath))
			more = true;
	}
	return more;
}

void streams_fill(struct sched_job *job)
{
	bool more = !draws_at_open(job);
	while (more) {
		struct aftermath aftermath;
		aftermath_init(&aftermath);
		lock_take(&job->sched->lock);
		more = fill_all_locked(job, &aftermath);
		sched_unlock(job->sched, &aftermath);
	}
}

/* The draw can't fail: the position is unbound, so at least one sample remains, also in
 * its label. */
void stream_draw_locked(struct stream *stream, uint32_t position, sample_id fixed,
	struct aftermath *aftermath)
{
	struct sched_job *job = stream->job;
	lock_assert_held(&job->sched->lock);
	if (!draws_at_open(job)) {
		bool drawn =
			draw_round_locked(job->sched, stream->next->sampler, aftermath);
		ensure(drawn);
		return;
	}
	sample_id sample = fixed;
	if (sample == SAMPLE_NONE)
		sample = sampler_draw_within(stream->next->sampler, stream->id,
			edition_label_of(stream->edition, position));
	ensure(sample != SAMPLE_NONE);
	stream_hold_locked(stream, sample, aftermath);
}
