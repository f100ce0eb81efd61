// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "draw/draw.h"
#include "edition/edition.h"
#include "epoch/questions.h"
#include "sched/positions.h"
#include "sched/ranks.h"
#include "sched/drawing.h"

#include <errno.h>
#include <stdio.h>

/* Passes a rank's samples, which a coordinator draws, to the rank's feed, and to the engine of the
 * rank's job. An open that finds no sample waits in the engine. */

/* Returns the feed of an epoch that is not over. Makes the feed if there is none. Never returns
 * NULL, because struct feeds has room for the feeds of all such epochs. */
static struct feed *feed_of_locked(struct sched_job *job, uint32_t epoch)
{
	struct feed *feed = feed_find(&job->feeds, epoch);
	lock_assert_held(&job->sched->lock);
	if (feed)
		return feed;
	uint32_t bound = epochs_order(job->is.epochs, epoch).bound;
	return feed_begin(
		&job->feeds, epoch, bound + epochs_ahead(job->is.epochs, epoch));
}

void feed_fill_locked(struct stream *stream, struct aftermath *aftermath)
{
	struct sched_job *job = sched_job_of(stream->edition->job);
	lock_assert_held(&job->sched->lock);
	struct feed *feed = feed_of_locked(job, stream->epoch);
	streams_tell_lookahead_locked(job->sched);
	while (draw_fed_locked(stream, feed, aftermath))
		;
	effects_resume_locked(job, aftermath);
}

static bool are_of_job(const struct sched_job *job, const sample_id *ids, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!roaring_bitmap_contains(job->is.now->selection, ids[i]))
			return false;
	return true;
}

/* Binds samples, and counts them as consumed, until the epoch has feed->had bindings. Readers have
 * already got the epoch's first feed->had samples from another daemon, so no tensors are prepared
 * for these. */
static int take_had_locked(
	struct sched_job *job, struct feed *feed, struct aftermath *aftermath)
{
	lock_assert_held(&job->sched->lock);
	for (;;) {
		struct effects effects;
		struct order order = epochs_order(job->is.epochs, feed->epoch);
		bool drawn = epochs_ahead(job->is.epochs, feed->epoch) > 0;
		if (order.bound >= feed->had || (!drawn && feed->n == 0))
			return 0;
		effects_init(&effects);
		int err = epochs_had(job->is.epochs, feed->epoch,
			drawn ? SAMPLE_NONE : feed->ids[feed->head], &effects);
		if (err)
			return err;
		if (!drawn)
			(void)feed_take(feed);
		effects_execute_locked(job, &effects, aftermath);
		if (epochs_state(job->is.epochs, feed->epoch) != EPOCH_LIVE)
			return 0;
	}
}

#define HAD_AT_ONCE 256

/* Consumes the positions of up to HAD_AT_ONCE bindings, from the k-th on. Stops at the feed->had-th
 * binding, because another daemon has served only the bindings before it. Returns the k of the next
 * call. */
static uint32_t consume_had_locked(
	struct sched_job *job, struct feed *feed, uint32_t k, struct aftermath *aftermath)
{
	lock_assert_held(&job->sched->lock);
	struct order order = epochs_order(job->is.epochs, feed->epoch);
	uint32_t end = order.bound < feed->had ? order.bound : feed->had;
	for (uint32_t n = 0; n < HAD_AT_ONCE && k < end; n++, k++) {
		struct effects effects;
		effects_init(&effects);
		epochs_released_before(job->is.epochs, feed->epoch,
			order_binding(&order, k).position, clock_now_ns(), &effects);
		effects_execute_locked(job, &effects, aftermath);
	}
	return k;
}

/* Continues an epoch of which readers have got the first `consumed` samples from another daemon.
 * The k in *k must be 0 in the first call. -EINPROGRESS: some positions were consumed, *k has
 * grown, and the caller has to call again. */
static int go_on_locked(struct sched_job *job, uint32_t epoch, uint32_t consumed,
	uint32_t *k, struct aftermath *aftermath)
{
	struct effects effects;
	lock_assert_held(&job->sched->lock);
	if (consumed > job->is.now->set.positions)
		return -EINVAL;
	effects_init(&effects);
	int err = epochs_go_on(job->is.epochs, epoch, &effects);
	effects_execute_locked(job, &effects, aftermath);
	if (err || epochs_state(job->is.epochs, epoch) != EPOCH_LIVE)
		return err;
	struct feed *feed = feed_of_locked(job, epoch);
	if (feed->had < consumed)
		feed->had = consumed;
	uint32_t from = *k;
	*k = consume_had_locked(job, feed, from, aftermath);
	if (*k > from)
		return -EINPROGRESS;
	return take_had_locked(job, feed, aftermath);
}

int sched_feed_go_on(struct sched_job *job, uint32_t epoch, uint32_t consumed)
{
	uint32_t k = 0;
	int err;
	do {
		SECTION_SCOPE(job->sched, aftermath);
		err = job->removed ? 0
				   : go_on_locked(job, epoch, consumed, &k, &aftermath);
	} while (err == -EINPROGRESS);
	return err;
}

static int take_locked(struct sched_job *job, uint32_t epoch, uint32_t base,
	const sample_id *ids, uint32_t n, struct aftermath *aftermath)
{
	enum epoch_state state = epochs_state(job->is.epochs, epoch);
	lock_assert_held(&job->sched->lock);
	if (state == EPOCH_UNKNOWN)
		return -EAGAIN;
	if (state != EPOCH_LIVE)
		return 0;
	struct feed *feed = feed_of_locked(job, epoch);
	if (base > feed->next || n > job->is.now->set.positions ||
		base > job->is.now->set.positions - n)
		return -EINVAL;
	int err = feed_append(feed, base, ids, n);
	if (!err)
		err = take_had_locked(job, feed, aftermath);
	if (err)
		return err;
	if (epochs_state(job->is.epochs, epoch) != EPOCH_LIVE)
		return 0;
	effects_resume_locked(job, aftermath);
	struct stream *stream = draw_find(&job->sched->draw, job->is.id, epoch);
	if (stream && stream->ready)
		feed_fill_locked(stream, aftermath);
	return 0;
}

int sched_feed(struct sched_job *job, uint32_t epoch, uint32_t base, const sample_id *ids,
	uint32_t n)
{
	if (!are_of_job(job, ids, n))
		return -EINVAL;
	SECTION_SCOPE(job->sched, aftermath);
	aftermath.kick = true;
	return job->removed ? 0 : take_locked(job, epoch, base, ids, n, &aftermath);
}

/* Returns the k-th received sample of the epoch: bound, drawn, or still in the feed. SAMPLE_NONE:
 * fewer samples were received. */
static sample_id fed_locked(struct sched_job *job, uint32_t epoch, uint32_t k)
{
	struct order order = epochs_order(job->is.epochs, epoch);
	const struct feed *feed = feed_of_locked(job, epoch);
	lock_assert_held(&job->sched->lock);
	if (k < order.bound)
		return order_binding(&order, k).sample;
	sample_id drawn = epochs_drawn_at(job->is.epochs, epoch, k - order.bound);
	return drawn != SAMPLE_NONE ? drawn : feed_at(feed, k);
}

static bool copy_fed(struct sched_job *job, uint32_t epoch, uint32_t base, sample_id *ids,
	uint32_t n, uint32_t *ret)
{
	LOCK_SCOPE(&job->sched->lock);
	if (epochs_state(job->is.epochs, epoch) != EPOCH_LIVE)
		return false;
	for (*ret = 0; *ret < n; ++*ret) {
		ids[*ret] = fed_locked(job, epoch, base + *ret);
		if (ids[*ret] == SAMPLE_NONE)
			break;
	}
	return true;
}

uint32_t sched_fed(
	struct sched_job *job, uint32_t epoch, uint32_t base, sample_id *ids, uint32_t n)
{
	struct binding binding;
	uint32_t found = 0;
	if (copy_fed(job, epoch, base, ids, n, &found))
		return found;
	while (found < n && sched_binding(job, epoch, base + found, &binding))
		ids[found++] = binding.sample;
	return found;
}

static void tell_locked(
	struct sched_job *job, uint32_t epoch, struct sched_feed_state *ret)
{
	lock_assert_held(&job->sched->lock);
	ret->epoch = epoch;
	ret->consumed = ret->next = 0;
	if (epochs_state(job->is.epochs, epoch) != EPOCH_LIVE)
		return;
	struct feed *feed = feed_of_locked(job, epoch);
	feed->consumed = epochs_consumed_first(job->is.epochs, epoch, feed->consumed);
	ret->consumed = feed->consumed;
	ret->next = feed->next;
}

void sched_feed_state(struct sched_job *job, struct sched_feed_state *ret)
{
	struct epochs_place place;
	LOCK_SCOPE(&job->sched->lock);
	epochs_place(job->is.epochs, &place);
	uint32_t newest = place.running.epoch;
	*ret = (struct sched_feed_state){.started = place.started, .newest = newest};
	if (place.drains)
		tell_locked(job, place.draining.epoch, ret);
	/* The coordinator draws few samples beyond the consumed ones, so it must know how far the
	 * rank is. *ret tells the progress in the draining epoch until all samples of that epoch
	 * are consumed, afterwards the progress in the newest epoch. */
	if (place.started &&
		(!place.drains || ret->consumed == job->is.now->set.positions))
		tell_locked(job, newest, ret);
}

void sched_feed_away(struct sched_job *job, uint64_t since_ns, bool gives_up)
{
	SECTION_SCOPE(job->sched, aftermath);
	job->unfed_since_ns = since_ns;
	if (job->removed || job->gives_up == gives_up)
		return;
	job->gives_up = gives_up;
	epochs_starve(job->is.epochs, gives_up ? -ETIMEDOUT : 0);
	effects_resume_locked(job, &aftermath);
}

void sched_feed_lend(struct sched_job *job, bool lent)
{
	SECTION_SCOPE(job->sched, aftermath);
	if (job->removed)
		return;
	epochs_lend(job->is.epochs, lent);
	effects_resume_locked(job, &aftermath);
}

void sched_feed_waits(struct sched_job *job, const char *why, bool here)
{
	LOCK_SCOPE(&job->sched->lock);
	snprintf(job->waits_why, sizeof(job->waits_why), "%s", why);
	epochs_hurry(job->is.epochs, here);
}

void sched_on_news(struct sched *sched, sched_news *news, void *context)
{
	sched->news = news;
	sched->news_context = context;
}
