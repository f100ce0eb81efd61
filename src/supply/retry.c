// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "supply/supply_internal.h"

/*
 * Tries samples again after transient errors, which are not the sample's fault: no free descriptor,
 * no memory, a server that does not answer. No worker waits: the housekeeper (sched/housekeeper.c)
 * sleeps until the first sample is due. A sample has up to six more tries. Their delays grow, but
 * no delay lasts beyond six seconds after the first failure: later tries follow almost at once. A
 * server may ask for longer delays. The reader gets the error of the last try, whether it has
 * opened one sample or a batch.
 *
 * A sample that lacks room, because readers have too much open, is queued again as soon as a reader
 * closes a file. If no reader does, the six seconds end a wait that might otherwise be endless: the
 * waiting reader itself may have the files open.
 */

#define MOST_RETRIES 6
#define FIRST_DELAY_NS UINT64_C(100000000)
#define PATIENCE_NS UINT64_C(6000000000)

bool retry_is_left(const struct wanted *wanted)
{
	return wanted->retries < MOST_RETRIES &&
	       !wanted->key.space->source->supply->stopping && wanted_is_pinned(wanted);
}

/* Returns the delay before the next try. Part of it is random, so that requests which a server has
 * refused together do not come back together. */
static uint64_t delay_ns(
	const struct wanted *wanted, uint64_t now_ns, uint64_t at_least_ns)
{
	uint64_t delay = FIRST_DELAY_NS << wanted->retries;
	uint64_t mixed = rng_mix(wanted->key.sample, wanted->retries);
	uint64_t end_ns = wanted->first_try_ns + PATIENCE_NS;
	uint64_t left = end_ns > now_ns ? end_ns - now_ns : 0;
	delay = delay / 2 + mixed % delay;
	if (delay > left)
		delay = left;
	return delay > at_least_ns ? delay : at_least_ns + mixed % FIRST_DELAY_NS;
}

bool retry_later(
	struct wanted *wanted, bool lacks_room, uint64_t at_least_ns, uint64_t now_ns)
{
	struct supply *supply = wanted->key.space->source->supply;
	if (!retry_is_left(wanted))
		return false;
	if (wanted->retries == 0)
		wanted->first_try_ns = now_ns;
	wanted->due_ns = now_ns + delay_ns(wanted, now_ns, at_least_ns);
	wanted->retries++;
	wanted->state = WANTED_DELAYED;
	wanted->lacks_room = lacks_room;
	supply->lack_room += lacks_room;
	TAILQ_INSERT_TAIL(&supply->delayed, wanted, link);
	supply->effects.delayed++;
	return true;
}

uint64_t supply_first_due(const struct supply *supply)
{
	const struct wanted *wanted;
	uint64_t first = UINT64_MAX;
	TAILQ_FOREACH (wanted, &supply->delayed, link)
		if (wanted->due_ns < first)
			first = wanted->due_ns;
	return first;
}

static void queue_again(struct wanted *wanted)
{
	wanted_unqueue(wanted);
	wanted_queue(wanted);
	wanted->key.space->source->supply->effects.reads = true;
}

void supply_time(struct supply *supply, uint64_t now_ns)
{
	struct wanted *wanted, *next;
	for (wanted = TAILQ_FIRST(&supply->delayed); wanted; wanted = next) {
		next = TAILQ_NEXT(wanted, link);
		if (wanted->due_ns <= now_ns)
			queue_again(wanted);
	}
}

void supply_has_room(struct supply *supply)
{
	struct wanted *wanted, *next;
	if (supply->lack_room == 0)
		return;
	for (wanted = TAILQ_FIRST(&supply->delayed); wanted; wanted = next) {
		next = TAILQ_NEXT(wanted, link);
		if (!wanted->lacks_room)
			continue;
		wanted->retries = 0;
		queue_again(wanted);
	}
}
