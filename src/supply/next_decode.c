// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "supply/supply_internal.h"

#include <errno.h>

/* Tells whether to decode `wanted` before `first`: a reader waits for `wanted`, and the job of this
 * reader wants `first`, too. With share = fifo any reader that waits for `wanted` suffices. */
static bool goes_before(const struct wanted *wanted, const struct wanted *first)
{
	const struct waiter *waiter;
	bool any_job = first->key.space->source->supply->config->share == SHARE_FIFO;
	TAILQ_FOREACH (waiter, &wanted->waiters, link)
		if (any_job || share_wants(waiter->job, &first->request))
			return true;
	return false;
}

/* Returns the sample to decode next: usually the first that was read, because reads follow the
 * order of src/share. A sample has to wait while another dataset decodes the same image. */
static struct wanted *first_read(const struct supply *supply, bool of_program)
{
	struct wanted *wanted, *first = NULL;
	TAILQ_FOREACH (wanted, &supply->read, link) {
		bool may_run = program_may_run(wanted);
		if (of_program ? !may_run : wanted->key.space->preparation.array != NULL)
			continue;
		if (same_is_under_way(wanted))
			continue;
		if (!first)
			first = wanted;
		if (goes_before(wanted, first))
			return wanted;
	}
	return first;
}

/* Begins the decode of a chain. If memory is short, returns false, and no other decode begins, so
 * that smaller decodes do not overtake this one. */
static bool begin_decode(struct supply *supply, struct wanted *first)
{
	uint64_t working = 0;
	for (const struct wanted *wanted = first; wanted; wanted = wanted->also)
		working += wanted->needs.memory.working;
	if (!memory_may_decode(supply, working))
		return false;
	for (struct wanted *wanted = first; wanted; wanted = wanted->also)
		wanted->working = wanted->needs.memory.working;
	memory_change_working(supply, (int64_t)working);
	storage_decodes(first);
	program_begin(first);
	same_begin(first);
	return true;
}

struct wanted *supply_next_decode(struct supply *supply, bool of_program)
{
	struct wanted *wanted = first_read(supply, of_program);
	if (!wanted || !begin_decode(supply, wanted))
		return NULL;
	supply->effects.reads = true;
	supply->effects.decodes = !TAILQ_EMPTY(&supply->read);
	return wanted;
}

static int reader_status(int status)
{
	return status == 0 || status == -ENOMEM ? status : -EIO;
}

static void note_bad(struct wanted *wanted, bool damaged)
{
	struct supply_effects *effects = &wanted->key.space->source->supply->effects;
	effects->bad = wanted->key.space;
	effects->bad_sample = wanted_sample(wanted);
	effects->damaged = damaged;
}

void supply_done(struct supply *supply, struct wanted *wanted,
	const struct supply_result *result, uint64_t now_ns)
{
	struct cache_space *cache = wanted->key.space->cache;
	int status = result->status;
	wanted_unqueue(wanted);
	memory_change_working(supply, -(int64_t)wanted->working);
	if (status == 0) {
		if (!result->same)
			result->tensor->made_for = wanted->asked_by;
		if (wanted->spare)
			cache_spare(cache, wanted_sample(wanted));
		cache_publish(cache, wanted_sample(wanted), result->tensor);
	} else {
		cache_abandon(cache, wanted_sample(wanted));
	}
	if (status != 0 && status != -ENOMEM && !result->passing)
		note_bad(wanted, result->damaged);
	if (status == 0 || !result->passing ||
		!retry_later(wanted, false, result->retry_ns, now_ns)) {
		share_drop(&wanted->request);
		wanted_answer(
			wanted, reader_status(status), status != 0 && !result->passing);
	}
	wanted_keep_capacity(wanted->key.space, wanted_sample(wanted));
	wanted_drop_if_unused(wanted);
	supply->effects.decodes |= !TAILQ_EMPTY(&supply->read);
}

void supply_fetched(struct supply *supply, struct wanted *wanted, struct tensor *tensor,
	uint64_t now_ns)
{
	const struct supply_result result = {.tensor = tensor};
	wanted->fetching = false;
	wanted->asked_by = 0;
	wanted->spare = true;
	supply_done(supply, wanted, &result, now_ns);
}

void supply_not_fetched(struct supply *supply, struct wanted *wanted, bool spare)
{
	wanted->fetching = false;
	wanted->here = true;
	wanted->spare = spare;
	wanted_unqueue(wanted);
	cache_abandon(wanted->key.space->cache, wanted_sample(wanted));
	if (wanted_is_pinned(wanted))
		wanted_queue(wanted);
	else
		share_drop(&wanted->request);
	wanted_drop_if_unused(wanted);
	supply->effects.reads = true;
}
