// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/rng.h"
#include "sched/sched_internal.h"
#include "section/section.h"
#include "supply/supply.h"
#include "stats/stats.h"

/*
 * Retries after errors that are transient and not the sample's fault: no free descriptor,
 * no memory, a file server that does not answer. The use is delayed, and queued again
 * when it is due; no worker waits for that. The housekeeper (housekeeper.c) sleeps until
 * the first use is due. The delay about doubles with each try, and a server may ask for a
 * longer one. A reader gets the error after six seconds, whether it opened one sample or
 * a batch.
 *
 * A use that lacks room, because readers hold much open, is queued again as soon as a
 * reader closes a file. If none does so within six seconds, the reader gets the error:
 * perhaps it holds those files itself.
 */

#define MOST_RETRIES 6
#define FIRST_DELAY_NS UINT64_C(100000000)
#define PATIENCE_NS UINT64_C(6000000000)

bool retry_is_left(const struct use *use)
{
	return use->retries < MOST_RETRIES && !use->key.space->source->sched->stopping &&
	       use_is_wanted(use);
}

/* Varies the delays at random, so that requests that a server refused together do not
 * return together. */
static uint64_t delay_ns(const struct use *use, uint64_t now_ns, uint64_t at_least_ns)
{
	uint64_t delay = FIRST_DELAY_NS << use->retries;
	uint64_t mixed = rng_mix(use->key.sample, use->retries);
	uint64_t end_ns = use->first_try_ns + PATIENCE_NS;
	uint64_t left = end_ns > now_ns ? end_ns - now_ns : 0;
	delay = delay / 2 + mixed % delay;
	if (delay > left)
		delay = left;
	return delay > at_least_ns ? delay : at_least_ns + mixed % FIRST_DELAY_NS;
}

bool retry_later_locked(struct use *use, bool lacks_room, uint64_t at_least_ns)
{
	struct sched *sched = use->key.space->source->sched;
	lock_assert_held(&sched->lock);
	if (!retry_is_left(use))
		return false;
	uint64_t now_ns = clock_now_ns();
	stats_add(STAT_RETRIES, 1);
	if (use->retries == 0)
		use->first_try_ns = now_ns;
	use->due_ns = now_ns + delay_ns(use, now_ns, at_least_ns);
	use->retries++;
	use->state = USE_DELAYED;
	use->lacks_room = lacks_room;
	sched->lack_room += lacks_room;
	TAILQ_INSERT_TAIL(&sched->delayed, use, link);
	pthread_cond_signal(&sched->house_cond);
	return true;
}

uint64_t retry_first_due_locked(const struct sched *sched)
{
	const struct use *use;
	uint64_t first = UINT64_MAX;
	lock_assert_held(&sched->lock);
	TAILQ_FOREACH (use, &sched->delayed, link)
		if (use->due_ns < first)
			first = use->due_ns;
	return first;
}

static void queue_again_locked(struct use *use, struct aftermath *aftermath)
{
	lock_assert_held(&use->key.space->source->sched->lock);
	use_unqueue_locked(use);
	use_queue_locked(use, !TAILQ_EMPTY(&use->waiters));
	aftermath->kick = true;
}

void retry_due_locked(struct sched *sched, struct aftermath *aftermath)
{
	uint64_t now = clock_now_ns();
	struct use *use, *next;
	lock_assert_held(&sched->lock);
	for (use = TAILQ_FIRST(&sched->delayed); use; use = next) {
		next = TAILQ_NEXT(use, link);
		if (use->due_ns <= now)
			queue_again_locked(use, aftermath);
	}
}

void retry_with_room_locked(struct sched *sched, struct aftermath *aftermath)
{
	struct use *use, *next;
	lock_assert_held(&sched->lock);
	if (sched->lack_room == 0)
		return;
	for (use = TAILQ_FIRST(&sched->delayed); use; use = next) {
		next = TAILQ_NEXT(use, link);
		if (!use->lacks_room)
			continue;
		use->retries = 0;
		queue_again_locked(use, aftermath);
	}
}
