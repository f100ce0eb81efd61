// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/ensure.h"
#include "base/fault.h"
#include "draw/draw.h"
#include "edition/edition.h"
#include "sched/jobs.h"
#include "sched/sched_internal.h"
#include "section/section.h"
#include "epoch/questions.h"

#include <errno.h>

/*
 * Makes and ends streams. A stream's need is counted, and exchange's candidates are brought up
 * to date, in steps between which the lock is released:
 *
 *           stream_make                            stream_end_locked
 *      -> counted, draws not yet -> in the sampler -> counted, draws no more -> gone
 */

/* Makes room for a round of n streams. */
static int grow_scratch(struct sched *sched, uint32_t n)
{
	stream_id *ids = realloc(sched->round_ids, n * sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	sched->round_ids = ids;
	struct stream **streams = realloc(sched->round_streams, n * sizeof(*streams));
	if (!streams)
		return -ENOMEM;
	sched->round_streams = streams;
	sample_id *samples = realloc(sched->round_samples, n * sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	sched->round_samples = samples;
	return 0;
}

static void stream_free(struct stream *stream)
{
	if (!stream)
		return;
	edition_let_go(stream->edition);
	for (size_t i = 0; i < stream->n_strands; i++) {
		sampler_set_free(&stream->strands[i].set);
		if (stream->strands[i].ids)
			roaring_bitmap_free(stream->strands[i].ids);
	}
	free(stream->strands);
	free(stream);
}

static int coarsening_begin(
	struct sched *sched, struct sampler *sampler, struct sampler_coarsening **ret)
{
	LOCK_SCOPE(&sched->lock);
	return sampler_coarsening_new(sampler, ret);
}

static int coarsening_finish(struct sched *sched, struct sampler *sampler,
	struct sampler_coarsening *coarsening)
{
	LOCK_SCOPE(&sched->lock);
	return sampler_coarsen(sampler, coarsening);
}

/* Merges classes of the sampler that are finer than needed, and begins again if a job
 * came or went meanwhile. Without memory the sampler stays as it is. */
static void coarsen(struct sched *sched, struct sampler *sampler)
{
	int err;
	do {
		struct sampler_coarsening *coarsening;
		err = coarsening_begin(sched, sampler, &coarsening);
		if (!err && coarsening)
			err = sampler_coarsening_prepare(coarsening);
		if (!err && coarsening)
			err = coarsening_finish(sched, sampler, coarsening);
		sampler_coarsening_free(&coarsening);
	} while (err == -EAGAIN);
}

static int make_set(struct sched *sched, struct strand *strand)
{
	coarsen(sched, strand->sampler);
	lock_take(&sched->lock);
	int err = sampler_set_new(strand->sampler, &strand->set);
	lock_release(&sched->lock);
	return err ? err : sampler_set_fill(strand->set, strand->ids);
}

/* Finds the epoch's unbound samples in each part. Nothing is bound meanwhile, since the
 * epoch has no stream yet. */
static int find_remaining(struct stream *stream)
{
	struct sched_job *job = stream->job;
	int err = 0;
	if (job_is_fed(job))
		return demand_find(stream);
	for (size_t i = 0; i < stream->n_strands && !err; i++) {
		struct strand *strand = &stream->strands[i];
		err = part_samples(strand->part, stream->epoch, &strand->ids);
	}
	if (err)
		return err;
	lock_take(&job->sched->lock);
	struct order order = epochs_order(job->epochs, stream->epoch);
	lock_release(&job->sched->lock);
	for (uint32_t k = 0; k < order.bound; k++) {
		sample_id sample = order_binding(&order, k).sample;
		const struct strand *strand = strand_of(stream, sample);
		roaring_bitmap_remove(strand->ids, sample - strand->part->first);
	}
	return 0;
}

static int make_strands(struct stream *stream)
{
	const struct edition *edition = stream->edition;
	stream->strands = calloc(edition->n_parts, sizeof(*stream->strands));
	if (!stream->strands)
		return -ENOMEM;
	stream->n_strands = edition->n_parts;
	stream->next = stream->strands;
	for (size_t i = 0; i < stream->n_strands; i++)
		stream->strands[i] = (struct strand){
			.part = &edition->parts[i], .sampler = edition->parts[i].sampler};
	int err = find_remaining(stream);
	for (size_t i = 0; i < stream->n_strands && !err; i++)
		if (stream->strands[i].sampler)
			err = make_set(stream->job->sched, &stream->strands[i]);
	return err;
}

static struct stream *stream_new(struct sched_job *job, uint32_t epoch)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	if (!stream)
		return NULL;
	*stream = (struct stream){.job = job,
		.epoch = epoch,
		.edition = edition_hold(job, epoch),
		.joined_as = job->id};
	if (make_strands(stream) == 0)
		return stream;
	stream_free(stream);
	return NULL;
}

/*
 * A job has one stream in a sampler. The epoch that drains beside the running one joins
 * as a job of its own, with the same selection.
 */
#define STAND_IN (UINT32_C(1) << 31)

static bool has_other_stream_locked(const struct stream *stream)
{
	const struct stream *other;
	lock_assert_held(&stream->job->sched->lock);
	TAILQ_FOREACH (other, &stream->job->sched->streams, link)
		if (other->job == stream->job && other->edition == stream->edition &&
			!(other->joined_as & STAND_IN))
			return true;
	return false;
}

static int join_locked(const struct stream *stream, const struct strand *strand)
{
	lock_assert_held(&stream->job->sched->lock);
	return stream->joined_as & STAND_IN
		       ? sampler_join(strand->sampler, stream->joined_as,
				 strand->part->space->number, strand->part->selection)
		       : 0;
}

static void leave_stand_in(const struct stream *stream, const struct strand *strand)
{
	if (stream->joined_as & STAND_IN)
		sampler_leave(strand->sampler, stream->joined_as);
}

/* Sizes of one step, which takes some tens of microseconds. */
#define STEP_IDS 16384
#define STEP_RESIDENTS 64

/* Finishes the change of need that is under way, of whichever stream: the cache allows
 * one at a time. */
static void finish_change_locked(struct sched *sched)
{
	lock_assert_held(&sched->lock);
	while (!cache_need_step(sched->cache, STEP_IDS))
		lock_yield(&sched->lock);
}

static void change_need_locked(struct stream *stream, enum cache_change change)
{
	struct sched *sched = stream->job->sched;
	lock_assert_held(&sched->lock);
	finish_change_locked(sched);
	if (change == CACHE_NEED_ADD)
		TAILQ_INSERT_TAIL(&sched->counted, stream, link);
	else
		TAILQ_REMOVE(&sched->counted, stream, link);
	for (size_t i = 0; i < stream->n_strands; i++) {
		const struct strand *strand = &stream->strands[i];
		cache_need_begin(strand->part->space->cache, strand->ids, change);
		finish_change_locked(sched);
	}
}

/* Does one step of bringing the stream's samplers up to date. Returns true if they
 * are. */
static bool settle_locked(const struct stream *stream)
{
	lock_assert_held(&stream->job->sched->lock);
	for (size_t i = 0; i < stream->n_strands; i++) {
		struct sampler *sampler = stream->strands[i].sampler;
		if (sampler && !sampler_settle(sampler, STEP_RESIDENTS))
			return false;
	}
	return true;
}

/* Brings exchange's candidates up to date, as an insertion or removal requires. */
static void update_sampler_locked(const struct stream *stream)
{
	struct sched *sched = stream->job->sched;
	lock_assert_held(&sched->lock);
	while (!settle_locked(stream))
		lock_yield(&sched->lock);
}

static bool is_wanted_locked(const struct stream *stream)
{
	const struct sched_job *job = stream->job;
	lock_assert_held(&job->sched->lock);
	return !job->removed && !job->sched->stopping &&
	       epochs_wants_stream_of(job->epochs, stream->epoch);
}

static int insert_strand_locked(const struct stream *stream, struct strand *strand)
{
	lock_assert_held(&stream->job->sched->lock);
	int err = join_locked(stream, strand);
	if (err)
		return err;
	struct sampler_set *set = strand->set;
	strand->set = NULL;
	err = sampler_insert_set(strand->sampler, stream->id, stream->joined_as, set);
	if (err)
		leave_stand_in(stream, strand);
	return err;
}

static void remove_strand_locked(const struct stream *stream, struct strand *strand)
{
	lock_assert_held(&stream->job->sched->lock);
	strand->set = sampler_remove_set(strand->sampler, stream->id);
	leave_stand_in(stream, strand);
}

static int insert_locked(struct stream *stream)
{
	struct sched *sched = stream->job->sched;
	lock_assert_held(&sched->lock);
	int err = grow_scratch(sched, sched->n_streams + 1);
	stream->id = sched->next_stream++;
	if (err || !stream->next->sampler)
		return err;
	if (has_other_stream_locked(stream))
		stream->joined_as |= STAND_IN;
	size_t n = 0;
	for (; n < stream->n_strands && !err; n++)
		err = insert_strand_locked(stream, &stream->strands[n]);
	for (n -= err != 0; err && n > 0; n--)
		remove_strand_locked(stream, &stream->strands[n - 1]);
	return err;
}

/* Moves the stream from those that are counted to those that draw. */
static void enter_locked(struct stream *stream)
{
	struct sched *sched = stream->job->sched;
	lock_assert_held(&sched->lock);
	TAILQ_REMOVE(&sched->counted, stream, link);
	TAILQ_INSERT_TAIL(&sched->streams, stream, link);
	sched->n_streams++;
	if (job_is_fed(stream->job))
		demand_enter_locked(stream);
	for (size_t i = 0; i < stream->n_strands && !job_is_fed(stream->job); i++) {
		roaring_bitmap_free(stream->strands[i].ids);
		stream->strands[i].ids = NULL;
	}
	uint64_t where = rng_mix(stream->epoch, stream_remaining(stream));
	rng_seed(&stream->rng, rng_mix(sched->seed, rng_mix(stream->job->id, where)));
	stream_choose_next_locked(stream);
}

/* Brings the stream's samplers up to date, so that it may draw. It may end meanwhile. */
static void make_ready_locked(struct sched_job *job, uint32_t epoch)
{
	const struct stream *stream;
	lock_assert_held(&job->sched->lock);
	while ((stream = stream_find_locked(job, epoch)) && !settle_locked(stream))
		lock_yield(&job->sched->lock);
}

int stream_make(struct sched_job *job, uint32_t epoch)
{
	struct sched *sched = job->sched;
	struct aftermath aftermath;
	int err = fault_hit("sched.stream");
	struct stream *stream = err ? NULL : stream_new(job, epoch);
	if (!stream)
		return err ? err : -ENOMEM;
	aftermath_init(&aftermath);
	lock_take(&sched->lock);
	change_need_locked(stream, CACHE_NEED_ADD);
	update_sampler_locked(stream);
	bool wanted = is_wanted_locked(stream);
	err = wanted ? insert_locked(stream) : 0;
	if (wanted && !err) {
		enter_locked(stream);
		make_ready_locked(job, epoch);
	} else {
		sched_job_hold(job);
		stream->leaves = true;
	}
	sched_unlock(sched, &aftermath);
	return err;
}

bool strand_counts(const struct strand *strand, sample_id sample)
{
	return strand->ids ? roaring_bitmap_contains(strand->ids, sample)
			   : sampler_set_contains(strand->set, sample);
}

static void drop_unbound_need_locked(struct stream *stream)
{
	const struct sched_job *job = stream->job;
	struct order order = epochs_order(job->epochs, stream->epoch);
	lock_assert_held(&job->sched->lock);
	const struct edition *edition = stream->edition;
	for (uint32_t i = 0; i < order.positions; i++)
		if (order_sample_at(&order, i) == SAMPLE_NONE)
			cache_need_drop(
				edition->parts[0].space->cache, edition->by_position[i]);
}

static roaring_bitmap_t *unbound_locked(const struct stream *stream)
{
	const struct sched_job *job = stream->job;
	struct order order = epochs_order(job->epochs, stream->epoch);
	roaring_bitmap_t *ids = roaring_bitmap_copy(stream->edition->selection);
	lock_assert_held(&job->sched->lock);
	for (uint32_t k = 0; ids && k < order.bound; k++)
		roaring_bitmap_remove(ids, order_binding(&order, k).sample);
	return ids;
}

/* Finds the samples that an ending stream still needs. Returns false if there are none,
 * or if their need is removed already. */
static bool keep_remaining_locked(struct stream *stream)
{
	bool remains = stream_remaining(stream) > 0;
	lock_assert_held(&stream->job->sched->lock);
	if (stream->next->sampler) {
		for (size_t i = 0; i < stream->n_strands; i++)
			remove_strand_locked(stream, &stream->strands[i]);
		return remains;
	}
	if (job_is_fed(stream->job))
		return demand_keep_locked(stream);
	if (!remains)
		return false;
	stream->next->ids = unbound_locked(stream);
	if (!stream->next->ids) /* slow path without memory: the need must be removed */
		drop_unbound_need_locked(stream);
	return stream->next->ids != NULL;
}

void stream_end_locked(struct stream *stream, struct aftermath *aftermath)
{
	struct sched_job *job = stream->job;
	struct sched *sched = job->sched;
	lock_assert_held(&sched->lock);
	TAILQ_REMOVE(&sched->streams, stream, link);
	sched->n_streams--;
	stream->leaves = keep_remaining_locked(stream);
	if (stream->leaves) {
		sched_job_hold(job);
		TAILQ_INSERT_TAIL(&sched->counted, stream, link);
	} else {
		stream_free(stream);
	}
	cache_trim(sched->cache);
	aftermath->kick = true;
}

static bool drop_need_if_remaining(uint32_t id, void *context)
{
	const struct strand *strand = context;
	if (strand_counts(strand, id))
		cache_need_drop(strand->part->space->cache, id);
	return true;
}

static bool knows_ids(const struct stream *stream)
{
	for (size_t i = 0; i < stream->n_strands; i++)
		if (!stream->strands[i].ids)
			return false;
	return true;
}

static void give_need_back_locked(struct stream *stream)
{
	struct sched *sched = stream->job->sched;
	lock_assert_held(&sched->lock);
	if (knows_ids(stream)) {
		change_need_locked(stream, CACHE_NEED_DROP);
	} else { /* slow path without memory: the need must be removed */
		finish_change_locked(sched);
		TAILQ_REMOVE(&sched->counted, stream, link);
		for (size_t i = 0; i < stream->n_strands; i++)
			roaring_iterate(stream->strands[i].part->selection,
				drop_need_if_remaining, &stream->strands[i]);
	}
	update_sampler_locked(stream);
}

static struct stream *first_leaving_locked(const struct sched *sched)
{
	struct stream *stream;
	lock_assert_held(&sched->lock);
	TAILQ_FOREACH (stream, &sched->counted, link)
		if (stream->leaves)
			return stream;
	return NULL;
}

bool streams_leave_locked(const struct sched *sched)
{
	lock_assert_held(&sched->lock);
	return first_leaving_locked(sched) != NULL;
}

static void find_ids(struct stream *stream)
{
	for (size_t i = 0; i < stream->n_strands; i++) {
		struct strand *strand = &stream->strands[i];
		roaring_bitmap_t *ids = strand->ids;
		if (!ids)
			ids = sampler_set_ids(strand->set);
		LOCK_SCOPE(&stream->job->sched->lock);
		strand->ids = ids;
	}
}

void streams_let_go(struct sched *sched)
{
	struct aftermath aftermath;
	aftermath_init(&aftermath);
	lock_take(&sched->lock);
	struct stream *stream = first_leaving_locked(sched);
	if (stream)
		stream->leaves = false; /* no other thread takes it */
	lock_release(&sched->lock);
	if (!stream)
		return;
	find_ids(stream);
	lock_take(&sched->lock);
	give_need_back_locked(stream);
	aftermath.kick = true;
	sched_unlock(sched, &aftermath); /* its phases go on with the next stream */
	struct sched_job *job = stream->job;
	stream_free(stream);
	sched_job_put(job);
}
