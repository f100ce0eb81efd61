// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/fault.h"
#include "draw/draw.h"
#include "edition/edition.h"
#include "epoch/questions.h"
#include "sched/jobs.h"
#include "sched/positions.h"
#include "sched/ranks.h"
#include "sched/drawing.h"
#include "sched/supplying.h"
#include "supply/supply.h"

#include <errno.h>
#include <string.h>

/* Beginning or ending a stream takes long: the cache counts the samples that the stream needs, and
 * the sampler `exchange` looks for samples that the stream can exchange. This work is done in
 * steps, and the lock is released between two steps. */

static void remove_sample(const struct stream *stream, sample_id sample)
{
	const struct strand *strand = strand_of(stream, sample);
	roaring_bitmap_remove(strand->ids, sample - strand->first);
}

/* Returns a reference to the k-th rank (from 0) of the training on this daemon, or NULL. */
static struct sched_job *hold_rank(struct sched *sched, const char *training, size_t k)
{
	struct sched_job *job;
	LOCK_SCOPE(&sched->lock);
	TAILQ_FOREACH (job, &sched->jobs, link)
		if (job_is_fed(&job->is) &&
			strcmp(job->is.config.training, training) == 0 && k-- == 0)
			return sched_job_hold(job);
	return NULL;
}

#define AT_ONCE 1024 /* bindings or samples handled at a time */

static void remove_bound(
	struct sched_job *job, const struct stream *stream, struct binding *bindings)
{
	uint32_t n, k = 0;
	do {
		n = sched_bindings(job, stream->epoch, k, AT_ONCE, bindings);
		for (uint32_t i = 0; i < n; i++)
			remove_sample(stream, bindings[i].sample);
		k += n;
	} while (n == AT_ONCE);
}

/* Removes from the stream the samples that ranks of this node have already got in the epoch: before
 * a restart, or before all these ranks became idle. */
static int remove_given(const struct stream *stream)
{
	struct sched *sched = sched_of(stream->edition->job);
	auto_free struct binding *bindings = calloc(AT_ONCE, sizeof(*bindings));
	struct sched_job *job;
	if (!bindings)
		return -ENOMEM;
	for (size_t k = 0; (job = hold_rank(sched, stream->training, k)); k++) {
		remove_bound(job, stream, bindings);
		sched_job_put(job);
	}
	return 0;
}

/* Adds to `ids` the part's samples whose home is this node. */
static int find_at_home(const struct part *part, roaring_bitmap_t *ids)
{
	const struct space *space = part->space;
	const struct sched_fetcher *fetcher = &sched_of_source(space->source)->fetcher;
	auto_free sample_id *at = calloc(AT_ONCE, sizeof(*at));
	roaring_uint32_iterator_t iterator;
	uint32_t n;
	if (!at)
		return -ENOMEM;
	roaring_init_iterator(part->selection, &iterator);
	while ((n = roaring_read_uint32_iterator(&iterator, at, AT_ONCE)) > 0)
		for (uint32_t i = 0; i < n; i++)
			if (!fetcher->fetch || !fetcher->is_elsewhere(fetcher->context,
						       space->source->dataset,
						       &space->preparation, at[i]))
				roaring_bitmap_add(ids, at[i]);
	return 0;
}

/* Finds the samples whose home is this node, and for which ranks of the training will still ask in
 * the epoch. Finds none if a stream of another rank on this node already lists these samples. */
static int find_demand(const struct stream *stream)
{
	const struct edition *edition = stream->edition;
	struct sched *sched = sched_of(edition->job);
	int err = 0;
	lock_take(&sched->lock);
	bool borne = draw_is_borne(&sched->draw, stream);
	lock_release(&sched->lock);
	for (size_t i = 0; i < stream->n_strands && !err; i++) {
		struct strand *strand = &stream->strands[i];
		strand->ids = roaring_bitmap_create();
		if (!strand->ids)
			err = -ENOMEM;
		else if (!borne)
			err = find_at_home(&edition->parts[i], strand->ids);
	}
	return err || borne ? err : remove_given(stream);
}

/* Finds the samples not bound in the epoch. None is bound meanwhile, as there is no stream yet. */
static int find_remaining(const struct stream *stream)
{
	const struct edition *edition = stream->edition;
	struct job *job = edition->job;
	int err = 0;
	if (stream->training)
		return find_demand(stream);
	for (size_t i = 0; i < stream->n_strands && !err; i++)
		err = part_samples(
			&edition->parts[i], stream->epoch, &stream->strands[i].ids);
	if (err)
		return err;
	lock_take(job->lock);
	struct order order = epochs_order(job->epochs, stream->epoch);
	lock_release(job->lock);
	for (uint32_t k = 0; k < order.bound; k++)
		remove_sample(stream, order_binding(&order, k).sample);
	return 0;
}

static struct strand strand_of_part(const struct part *part)
{
	const struct job *job = part->edition->job;
	bool dsa = source_sampler(sched_source_of(part->source)) == SAMPLER_DSA;
	lock_take(job->lock); /* lookahead_of reads a limit that other threads change. */
	uint32_t lookahead = lookahead_of(job, part->space);
	lock_release(job->lock);
	return (struct strand){.space = part->space,
		.sampler = part->sampler,
		.number = part->space->number,
		.selection = part->selection,
		.first = part->first,
		.at_once = dsa ? job_binds_at_once(&job->config) : 1,
		.lookahead = lookahead};
}

/* --- making a stream ---------------------------------------------------------------------- */

/* The sampler has a set of samples for each combination of jobs that read them. Merges the sets
 * whose combinations differ only in jobs that have left. Begins again if a job came or went
 * meanwhile. If there is no memory, the sampler stays as it is. */
static void coarsen(struct sched *sched, struct sampler *sampler)
{
	int err;
	do {
		struct sampler_coarsening *coarsening;
		lock_take(&sched->lock);
		err = sampler_coarsening_new(sampler, &coarsening);
		lock_release(&sched->lock);
		if (!err && coarsening)
			err = sampler_coarsening_prepare(coarsening);
		if (!err && coarsening) {
			lock_take(&sched->lock);
			err = sampler_coarsen(sampler, coarsening);
			lock_release(&sched->lock);
		}
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

static int make_strands(struct stream *stream)
{
	const struct edition *edition = stream->edition;
	stream->strands = calloc(edition->n_parts, sizeof(*stream->strands));
	if (!stream->strands)
		return -ENOMEM;
	stream->n_strands = edition->n_parts;
	for (size_t i = 0; i < stream->n_strands; i++)
		stream->strands[i] = strand_of_part(&edition->parts[i]);
	int err = find_remaining(stream);
	for (size_t i = 0; i < stream->n_strands && !err; i++)
		if (stream->strands[i].sampler)
			err = make_set(sched_of(edition->job), &stream->strands[i]);
	return err;
}

static struct stream *stream_new(struct sched_job *job, uint32_t epoch)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	if (!stream)
		return NULL;
	struct edition *edition = edition_hold(&job->is, epoch);
	*stream = (struct stream){.job = job->is.id,
		.epoch = epoch,
		.edition = edition,
		.training = job_is_fed(&job->is) ? job->is.config.training : NULL,
		.at_open = job_kind(&job->is) != EPOCHS_DRAWN,
		.tensor_bytes = edition->typical_bytes ? edition->typical_bytes : 1};
	if (make_strands(stream) == 0)
		return stream;
	stream_free(stream);
	return NULL;
}

/* --- steps -------------------------------------------------------------------------------- */

/* One step takes some tens of microseconds. */
#define STEP_IDS 16384
#define STEP_RESIDENTS 64

/* Finishes the change of need counts that this or another stream has begun (cache_need_begin), if
 * any: the cache allows one change at a time. Releases the lock between steps. */
static void finish_change_locked(struct sched *sched)
{
	lock_assert_held(&sched->lock);
	while (!cache_need_step(sched->cache, STEP_IDS))
		lock_yield(&sched->lock);
}

static void change_need_locked(struct stream *stream, enum cache_change change)
{
	struct sched *sched = sched_of(stream->edition->job);
	lock_assert_held(&sched->lock);
	finish_change_locked(sched);
	if (change == CACHE_NEED_ADD)
		draw_count(&sched->draw, stream);
	else
		draw_left(&sched->draw, stream);
	for (size_t i = 0; i < stream->n_strands; i++) {
		const struct strand *strand = &stream->strands[i];
		cache_need_begin(strand->space->cache, strand->ids, change);
		finish_change_locked(sched);
	}
}

/* Does a step of the work that insertions and removals of streams have left to the samplers of this
 * stream. Returns true if no work is left. */
static bool settle_locked(const struct stream *stream)
{
	lock_assert_held(stream->edition->job->lock);
	for (size_t i = 0; i < stream->n_strands; i++) {
		struct sampler *sampler = stream->strands[i].sampler;
		if (sampler && !sampler_settle(sampler, STEP_RESIDENTS))
			return false;
	}
	return true;
}

/* Calls settle_locked until no work is left. Releases the lock between steps. */
static void update_sampler_locked(const struct stream *stream)
{
	struct sched *sched = sched_of(stream->edition->job);
	lock_assert_held(&sched->lock);
	while (!settle_locked(stream))
		lock_yield(&sched->lock);
}

/* Calls settle_locked until the stream may draw, or has ended. Releases the lock between steps. */
static void make_ready_locked(struct sched_job *job, uint32_t epoch)
{
	const struct stream *stream;
	struct sched *sched = job->sched;
	lock_assert_held(&sched->lock);
	while ((stream = draw_find(&sched->draw, job->is.id, epoch)) &&
		!settle_locked(stream))
		lock_yield(&sched->lock);
}

int stream_make(struct sched_job *job, uint32_t epoch)
{
	struct sched *sched = job->sched;
	int err = fault_hit("sched.stream");
	struct stream *stream = err ? NULL : stream_new(job, epoch);
	if (!stream)
		return err ? err : -ENOMEM;
	SECTION_SCOPE(sched, aftermath);
	change_need_locked(stream, CACHE_NEED_ADD);
	update_sampler_locked(stream);
	bool wanted = !job->removed && !sched->stopping &&
		      epochs_wants_stream_of(job->is.epochs, epoch);
	if (wanted) {
		struct epochs_coming coming = epochs_coming(job->is.epochs, epoch);
		err = draw_enter(&sched->draw, stream, coming.ahead, coming.unbound);
	}
	if (wanted && !err) {
		make_ready_locked(job, epoch);
	} else {
		sched_job_hold(job);
		draw_give_up(stream);
	}
	return err;
}

/* --- filling streams ----------------------------------------------------------------------- */

#define STEP_ROUNDS 8

/* Draws up to STEP_ROUNDS rounds. Returns false if the stream wants no further round. */
static bool fill_some_locked(struct stream *stream, struct aftermath *aftermath)
{
	struct sched *sched = sched_of(stream->edition->job);
	lock_assert_held(&sched->lock);
	streams_tell_lookahead_locked(sched);
	for (int i = 0; i < STEP_ROUNDS; i++)
		if (!draw_go_on_locked(stream, aftermath))
			return false;
	return true;
}

/* Draws samples for the job's streams, of the running and the draining epoch. Returns true if one
 * of them wants more. */
static bool fill_all_locked(struct sched_job *job, struct aftermath *aftermath)
{
	struct stream *stream;
	bool more = false;
	lock_assert_held(&job->sched->lock);
	TAILQ_FOREACH (stream, &job->sched->draw.streams, link) {
		if (stream->job != job->is.id || stream->at_open)
			continue;
		if (stream->training)
			feed_fill_locked(stream, aftermath);
		else if (fill_some_locked(stream, aftermath))
			more = true;
	}
	return more;
}

void streams_fill(struct sched_job *job)
{
	bool more = true;
	while (more) {
		SECTION_SCOPE(job->sched, aftermath);
		more = fill_all_locked(job, &aftermath);
	}
}

/* --- a stream that has ended -------------------------------------------------------------- */

static bool drop_need(uint32_t id, void *context)
{
	cache_need_drop(context, id);
	return true;
}

static bool drop_need_if_in_set(uint32_t id, void *context)
{
	const struct strand *strand = context;
	if (sampler_set_contains(strand->set, id))
		cache_need_drop(strand->space->cache, id);
	return true;
}

/* Tells the cache, sample by sample, that the stream needs its samples no more. This takes long,
 * with the lock held. Used only if there is no memory for the set of the samples. */
static void drop_all_need_locked(struct stream *stream)
{
	struct sched *sched = sched_of(stream->edition->job);
	lock_assert_held(&sched->lock);
	finish_change_locked(sched);
	draw_left(&sched->draw, stream);
	for (size_t i = 0; i < stream->n_strands; i++) {
		struct strand *strand = &stream->strands[i];
		if (strand->ids)
			roaring_iterate(strand->ids, drop_need, strand->space->cache);
		else
			roaring_iterate(strand->selection, drop_need_if_in_set, strand);
	}
}

static bool knows_ids(const struct stream *stream)
{
	for (size_t i = 0; i < stream->n_strands; i++)
		if (!stream->strands[i].ids)
			return false;
	return true;
}

static void find_ids(struct stream *stream)
{
	for (size_t i = 0; i < stream->n_strands; i++) {
		struct strand *strand = &stream->strands[i];
		roaring_bitmap_t *ids = strand->ids;
		if (!ids)
			ids = sampler_set_ids(strand->set);
		LOCK_SCOPE(stream->edition->job->lock);
		strand->ids = ids;
	}
}

void streams_let_go(struct sched *sched)
{
	struct aftermath aftermath;
	lock_take(&sched->lock);
	struct stream *stream = draw_take_leaving(&sched->draw);
	lock_release(&sched->lock);
	if (!stream)
		return;
	find_ids(stream);
	sched_lock(sched, &aftermath);
	if (knows_ids(stream))
		change_need_locked(stream, CACHE_NEED_DROP);
	else
		drop_all_need_locked(stream);
	update_sampler_locked(stream);
	aftermath.kick = true;
	/* sched_unlock calls this function again if another stream has ended. */
	sched_unlock(&aftermath);
	struct sched_job *job = sched_job_of(stream->edition->job);
	stream_free(stream);
	sched_job_put(job);
}
