// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"
#include "base/clock.h"
#include "base/ensure.h"

#include <errno.h>

/*
 * How a stream comes and goes. What it needs is counted, and exchange's candidates are
 * settled, in steps between which the lock is let go:
 *
 *           stream_begin                            stream_end_locked
 *      -> counted, draws not yet -> in the sampler -> counted, draws no more -> gone
 */

/* Room for every stream's part in a round. */
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
	sampler_set_free(&stream->set);
	if (stream->ids)
		roaring_bitmap_free(stream->ids);
	free(stream->queue);
	free(stream);
}

static int make_set(struct stream *stream)
{
	lock_take(&stream->job->sched->lock);
	int err = sampler_set_new(stream->sampler, &stream->set);
	lock_release(&stream->job->sched->lock);
	return err ? err : sampler_set_fill(stream->set, stream->ids);
}

/* With what remains: without a stream nothing is bound meanwhile. No lock held. */
static struct stream *stream_new(struct epoch *epoch)
{
	struct sched_job *job = epoch->job;
	struct stream *stream = calloc(1, sizeof(*stream));
	if (!stream)
		return NULL;
	*stream = (struct stream){.job = job,
		.epoch = epoch,
		.sampler = job->sampler,
		.joined_as = job->id,
		.queue = calloc(job->config.lookahead, sizeof(*stream->queue)),
		.ids = epoch_remaining(epoch)};
	bool failed = !stream->queue || !stream->ids;
	if (!failed && stream->sampler)
		failed = make_set(stream) != 0;
	if (!failed)
		return stream;
	stream_free(stream);
	return NULL;
}

/*
 * A job has one stream in a sampler. The epoch that drains beside the running one joins
 * as a job of its own, with the same selection.
 */
#define STAND_IN (UINT32_C(1) << 31)

static int join_stand_in(struct stream *stream)
{
	const struct sched_job *job = stream->job;
	if (stream->epoch != job->draining)
		return 0;
	int err = sampler_join(
		stream->sampler, job->id | STAND_IN, job->space->number, job->selection);
	if (!err)
		stream->joined_as = job->id | STAND_IN;
	return err;
}

static void leave_stand_in(const struct stream *stream)
{
	if (stream->joined_as & STAND_IN)
		sampler_leave(stream->sampler, stream->joined_as);
}

/* What one step does: some tens of microseconds. */
#define STEP_IDS 16384
#define STEP_RESIDENTS 64

/* Whoever's change it is: there can be one at a time. */
static void finish_change_locked(struct sched *sched)
{
	while (!cache_need_step(sched->cache, STEP_IDS))
		lock_yield(&sched->lock);
}

static void change_need_locked(struct stream *stream, enum cache_change change)
{
	struct sched *sched = stream->job->sched;
	finish_change_locked(sched);
	if (change == CACHE_NEED_ADD)
		TAILQ_INSERT_TAIL(&sched->counted, stream, link);
	else
		TAILQ_REMOVE(&sched->counted, stream, link);
	cache_need_begin(stream->job->space->cache, stream->ids, change);
	finish_change_locked(sched);
}

static void settle_locked(const struct stream *stream)
{
	struct sched *sched = stream->job->sched;
	while (stream->sampler && !sampler_settle(stream->sampler, STEP_RESIDENTS))
		lock_yield(&sched->lock);
}

static bool is_wanted_locked(const struct epoch *epoch)
{
	const struct sched_job *job = epoch->job;
	return !epoch->over && !job->removed && !job->sched->stopping &&
	       (epoch == job->running || epoch == job->draining);
}

static int insert_locked(struct stream *stream)
{
	struct sched *sched = stream->job->sched;
	int err = grow_scratch(sched, sched->n_streams + 1);
	stream->id = sched->next_stream++;
	if (err || !stream->sampler)
		return err;
	err = join_stand_in(stream);
	if (err)
		return err;
	struct sampler_set *set = stream->set;
	stream->set = NULL;
	err = sampler_insert_set(stream->sampler, stream->id, stream->joined_as, set);
	if (err)
		leave_stand_in(stream);
	return err;
}

/* From among those that are counted to those that draw. */
static void enter_locked(struct stream *stream)
{
	struct sched *sched = stream->job->sched;
	TAILQ_REMOVE(&sched->counted, stream, link);
	TAILQ_INSERT_TAIL(&sched->streams, stream, link);
	sched->n_streams++;
	stream->epoch->stream = stream;
	stream->job->idle = false;
	stream->job->last_read_ns = clock_now_ns(); /* this took long, perhaps */
	roaring_bitmap_free(stream->ids);
	stream->ids = NULL;
}

/* The stream that has been inserted draws when its sampler has settled. */
static void make_ready_locked(const struct epoch *epoch)
{
	const struct stream *stream = epoch->stream;
	while (epoch->stream && stream->sampler &&
		!sampler_settle(stream->sampler, STEP_RESIDENTS))
		lock_yield(&epoch->job->sched->lock);
	if (epoch->stream)
		epoch->stream->ready = true;
}

int stream_begin(struct epoch *epoch)
{
	struct sched *sched = epoch->job->sched;
	struct aftermath aftermath;
	struct stream *stream = stream_new(epoch);
	if (!stream)
		return -ENOMEM;
	aftermath_init(&aftermath);
	lock_take(&sched->lock);
	epoch->job->last_read_ns = clock_now_ns(); /* it is about to read */
	change_need_locked(stream, CACHE_NEED_ADD);
	settle_locked(stream);
	bool wanted = is_wanted_locked(epoch);
	int err = wanted ? insert_locked(stream) : 0;
	if (wanted && !err) {
		enter_locked(stream);
		make_ready_locked(epoch);
	} else {
		atomic_fetch_add(&epoch->job->references, 1);
		stream->leaves = true;
	}
	sched_unlock(sched, &aftermath);
	stream_fill(epoch);
	return err;
}

bool stream_counts(const struct stream *stream, sample_id sample)
{
	return stream->ids ? roaring_bitmap_contains(stream->ids, sample)
			   : sampler_set_contains(stream->set, sample);
}

static void unpin_queue_locked(const struct stream *stream)
{
	const struct sched_job *job = stream->job;
	for (uint32_t i = 0; i < stream->length; i++) {
		const struct drawn *drawn =
			&stream->queue[(stream->head + i) % job->config.lookahead];
		if (!drawn->pinned)
			continue;
		cache_unpin(job->space->cache, drawn->sample);
		use_settle_sample_locked(job->space, drawn->sample);
	}
}

static void drop_unbound_need(struct stream *stream)
{
	for (uint32_t i = 0; i < stream->job->samples; i++)
		if (!epoch_has_bound(stream->epoch, i))
			cache_need_drop(stream->job->space->cache,
				job_fixed_sample(stream->job, i));
}

/* What it still needs. false: nothing, or that is given back already. */
static bool keep_remaining_locked(struct stream *stream)
{
	bool remains = stream_remaining(stream) > 0;
	if (stream->sampler) {
		stream->set = sampler_remove_set(stream->sampler, stream->id);
		leave_stand_in(stream);
		return remains;
	}
	if (!remains)
		return false;
	stream->ids = epoch_remaining(stream->epoch);
	if (!stream->ids) /* no memory: slower, but it must be given back */
		drop_unbound_need(stream);
	return stream->ids != NULL;
}

void stream_end_locked(struct epoch *epoch, struct aftermath *aftermath)
{
	struct sched_job *job = epoch->job;
	struct sched *sched = job->sched;
	struct stream *stream = epoch->stream;
	if (!stream)
		return;
	unpin_queue_locked(stream);
	TAILQ_REMOVE(&sched->streams, stream, link);
	sched->n_streams--;
	epoch->stream = NULL;
	stream->leaves = keep_remaining_locked(stream);
	if (stream->leaves) {
		atomic_fetch_add(&job->references, 1);
		TAILQ_INSERT_TAIL(&sched->counted, stream, link);
	} else {
		stream_free(stream);
	}
	cache_trim(sched->cache);
	aftermath->kick = true;
}

static bool drop_need_if_remaining(uint32_t id, void *context)
{
	struct stream *stream = context;
	if (sampler_set_contains(stream->set, id))
		cache_need_drop(stream->job->space->cache, id);
	return true;
}

static void give_need_back_locked(struct stream *stream)
{
	struct sched *sched = stream->job->sched;
	if (stream->ids) {
		change_need_locked(stream, CACHE_NEED_DROP);
	} else { /* no memory: slower, but it must be given back */
		finish_change_locked(sched);
		TAILQ_REMOVE(&sched->counted, stream, link);
		roaring_iterate(stream->job->selection, drop_need_if_remaining, stream);
	}
	settle_locked(stream);
}

static struct stream *first_leaving_locked(const struct sched *sched)
{
	struct stream *stream;
	TAILQ_FOREACH (stream, &sched->counted, link)
		if (stream->leaves)
			return stream;
	return NULL;
}

bool streams_leave_locked(const struct sched *sched)
{
	return first_leaving_locked(sched) != NULL;
}

void streams_let_go(struct sched *sched)
{
	struct aftermath aftermath;
	aftermath_init(&aftermath);
	lock_take(&sched->lock);
	struct stream *stream = first_leaving_locked(sched);
	if (stream)
		stream->leaves = false; /* nobody else does it */
	lock_release(&sched->lock);
	if (!stream)
		return;
	roaring_bitmap_t *ids = stream->ids ? stream->ids : sampler_set_ids(stream->set);
	lock_take(&sched->lock);
	stream->ids = ids;
	give_need_back_locked(stream);
	aftermath.kick = true;
	sched_unlock(sched, &aftermath); /* and on to the next one */
	struct sched_job *job = stream->job;
	stream_free(stream);
	sched_job_put(job);
}
