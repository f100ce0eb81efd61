// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/ensure.h"
#include "draw/draw.h"
#include "edition/edition.h"
#include "sched/drawing.h"
#include "sched/sched_handle.h"
#include "sched/supplying.h"
#include "supply/supply.h"
#include "watch/watch.h"
#include "stats/stats.h"

static struct sched_handle *handle_of(struct open_request *request)
{
	return struct_of(request, struct sched_handle, request);
}

static void count_served(struct sched_job *job, sample_id sample, enum served served)
{
	job->watch.totals.decoded += served == SERVED_DECODED;
	job->watch.totals.hit += served == SERVED_HIT;
	job->watch.totals.shared += served == SERVED_SHARED;
	if (served == SERVED_HIT || served == SERVED_SHARED)
		stats_add(STAT_SAVED_NS, part_of(job->is.now, sample)->space->cost_ns);
}

static void note_bound_locked(
	struct sched_job *job, const struct record *record, struct aftermath *aftermath)
{
	lock_assert_held(&job->sched->lock);
	count_served(job, record->sample, record->served);
	lap_bound_locked(&job->watch, record->epoch, record->served);
	draw_bound_locked(job, record->epoch, aftermath);
}

/* Passes the record to the journal. Before a reader is answered, the journal's file must have the
 * binding of the position, or the choice of the epoch; for these records aftermath->flush is set to
 * the job. The release of a file also writes the journal, with the record of the consumed position.
 * Other records wait for such a write, at most a second. */
static void record_locked(
	struct sched_job *job, const struct record *record, struct aftermath *aftermath)
{
	lock_assert_held(&job->sched->lock);
	if (record->kind == RECORD_BEGUN || record->kind == RECORD_RESTORED) {
		struct order_set set =
			edition_order_set(edition_of_locked(&job->is, record->epoch));
		if (record->kind == RECORD_BEGUN || !record->drains)
			journal_use(job->is.journal, &set);
	}
	journal_append(job->is.journal, record);
	if (record->kind == RECORD_CONSUMED) {
		stats_add(STAT_CONSUMED, 1);
		rate_count_locked(&job->watch, lock_time(&job->sched->lock));
		lap_consumed_locked(&job->watch, record->epoch);
		aftermath->news |= job_is_fed(&job->is) && feed_has_news(&job->feeds);
		return;
	}
	if (record->kind != RECORD_BOUND && record->kind != RECORD_OPENED)
		return;
	ensure(!aftermath->flush || aftermath->flush == job);
	aftermath->flush = job;
	if (record->kind == RECORD_BOUND)
		note_bound_locked(job, record, aftermath);
}

static void answer_locked(struct open_request *request, struct aftermath *aftermath)
{
	struct sched_handle *handle = handle_of(request);
	struct sched_job *job = handle->job;
	lock_assert_held(&job->sched->lock);
	bool mirrored = job_kind(&job->is) == EPOCHS_MIRRORED;
	if (mirrored && request->status == 0 && !request->label)
		count_served(job, request->sample,
			how_served(job->is.now->parts[0].space, request->sample));
	handle_answered_locked(handle, aftermath);
}

static void unpin_in_edition_locked(
	struct edition *edition, sample_id sample, struct aftermath *aftermath)
{
	const struct part *part = part_of(edition, sample);
	lock_assert_held(edition->job->lock);
	unpin_locked(part->space, sample - part->first, aftermath);
}

static void give_back_queue_locked(
	struct sched_job *job, const struct effect *effect, struct aftermath *aftermath)
{
	const struct drawn_queue *queue = &effect->queue;
	struct edition *edition = edition_of_locked(&job->is, effect->epoch);
	lock_assert_held(&job->sched->lock);
	for (uint32_t i = 0; i < queue->length; i++) {
		const struct drawn *drawn = &queue->ring[(queue->head + i) % queue->size];
		if (drawn->pinned)
			unpin_in_edition_locked(edition, drawn->sample, aftermath);
	}
	free(queue->ring);
}

/* An ending stream has drawn samples that are not bound. Puts these samples back to the front of
 * the rank's feed, for the epoch's next stream. */
static void return_to_feed_locked(
	struct sched_job *job, uint32_t epoch, const struct drawn_queue *queue)
{
	lock_assert_held(&job->sched->lock);
	sample_id *ids = feed_return(&job->feeds, epoch, queue->length);
	for (uint32_t i = 0; ids && i < queue->length; i++)
		ids[i] = queue->ring[(queue->head + i) % queue->size].sample;
}

/* Ends the epoch's stream. Removes the pins of the stream's drawn samples at once. The stream's
 * other samples count as needed until streams_let_go has told the cache, in steps. */
static void end_locked(
	struct sched_job *job, const struct effect *effect, struct aftermath *aftermath)
{
	lock_assert_held(&job->sched->lock);
	if (job_is_fed(&job->is))
		return_to_feed_locked(job, effect->epoch, &effect->queue);
	give_back_queue_locked(job, effect, aftermath);
	draw_end_locked(job, effect->epoch, aftermath);
}

/* Draws a sample for an open that waits. The round may also draw samples for other jobs, but binds
 * samples only for this job. */
static void draw_locked(
	struct sched_job *job, const struct effect *effect, struct aftermath *aftermath)
{
	struct effects effects;
	lock_assert_held(&job->sched->lock);
	draw_asked_locked(job, effect, aftermath);
	effects_init(&effects);
	epochs_take_drawn(job->is.epochs, &effects);
	effects_execute_locked(job, &effects, aftermath);
}

static void execute_locked(
	struct sched_job *job, const struct effect *effect, struct aftermath *aftermath)
{
	lock_assert_held(&job->sched->lock);
	switch (effect->kind) {
	case EFFECT_BEGIN:
	case EFFECT_SAVE:
	case EFFECT_LOAD:
		clerk_request_locked(job);
		break;
	case EFFECT_END:
		end_locked(job, effect, aftermath);
		break;
	case EFFECT_DRAW:
		draw_locked(job, effect, aftermath);
		break;
	case EFFECT_UNPIN:
		unpin_in_edition_locked(edition_of_locked(&job->is, effect->epoch),
			effect->sample, aftermath);
		break;
	case EFFECT_ANSWER:
		answer_locked(effect->request, aftermath);
		break;
	case EFFECT_LOOK_UP:
		handle_look_up_locked(handle_of(effect->request), aftermath);
		break;
	case EFFECT_NOTICE:
		notice_locked(job, effect->notice, effect->epoch, aftermath);
		break;
	case EFFECT_RECORD:
		record_locked(job, &effect->record, aftermath);
		break;
	case EFFECT_KINDS:
		ensure(!"an effect");
	}
}

void effects_execute_locked(
	struct sched_job *job, struct effects *effects, struct aftermath *aftermath)
{
	const struct pin *pin;
	bool ended = false;
	lock_assert_held(&job->sched->lock);
	for (unsigned i = 0; i < effects->n; i++) {
		execute_locked(job, &effects->list[i], aftermath);
		ended |= effects->list[i].kind == EFFECT_END;
	}
	TAILQ_FOREACH (pin, &effects->unpinned, link)
		unpin_in_edition_locked(
			edition_of_locked(&job->is, pin->epoch), pin->sample, aftermath);
	epochs_unpinned(job->is.epochs, effects);
	if (ended || effects->resumes)
		effects_resume_locked(job, aftermath);
}

void effects_resume_locked(struct sched_job *job, struct aftermath *aftermath)
{
	struct effects effects;
	lock_assert_held(&job->sched->lock);
	effects_init(&effects);
	while (epochs_resume(job->is.epochs, clock_now_ns(), &effects)) {
		effects_execute_locked(job, &effects, aftermath);
		effects_init(&effects);
	}
}
