// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "draw/draw.h"
#include "sched/sched_handle.h"
#include "sched/jobs.h"
#include "sched/positions.h"
#include "sched/sched.h"
#include "sched/drawing.h"
#include "supply/supply.h"
#include "watch/watch.h"

/* Begins critical sections, and does the work that they leave, in the order of sched_unlock. */

#define REAPED_AT_ONCE 16

/* Releases the lock, and frees evicted tensors. Freeing a tensor of many megabytes takes a system
 * call, so it is done without the lock. */
static void reap(struct sched *sched)
{
	struct tensor *dead[REAPED_AT_ONCE];
	int n;
	for (;;) {
		for (n = 0; n < REAPED_AT_ONCE; n++)
			if (!(dead[n] = cache_reap(sched->cache)))
				break;
		lock_release(&sched->lock);
		for (int i = 0; i < n; i++)
			tensor_free(dead[i]);
		if (n < REAPED_AT_ONCE)
			return;
		lock_take(&sched->lock);
	}
}

static void kick_workers(const struct sched *sched, bool readers, bool decoders)
{
	if (readers)
		load_pool_kick(sched->pool, LOAD_READ);
	if (!decoders)
		return;
	load_pool_kick(sched->pool, LOAD_DECODE);
	if (programs_count(sched->programs) > 0)
		load_pool_kick(sched->pool, LOAD_RUN);
}

static void answer(struct aftermath *aftermath)
{
	struct sched_handle *handle;
	while ((handle = TAILQ_FIRST(&aftermath->finished))) {
		TAILQ_REMOVE(&aftermath->finished, handle, link);
		struct sched_open_callbacks callbacks = handle->callbacks;
		struct sched_opened opened = {
			.status = handle->status, .bad = handle->bad};
		if (opened.status == 0) {
			/* Another thread may have bound the position, but not yet written the
			 * record to the journal's file. */
			if (handle->job != aftermath->flush)
				journal_flush(handle->job->is.journal);
			opened.handle = handle;
		} else {
			handle_free(handle);
		}
		callbacks.opened(callbacks.context, &opened);
	}
}

static void look_up(struct aftermath *aftermath)
{
	struct sched_handle *handle;
	while ((handle = TAILQ_FIRST(&aftermath->look_ups))) {
		TAILQ_REMOVE(&aftermath->look_ups, handle, link);
		sched_run(aftermath->sched, &handle->look_up);
	}
}

static void say(const struct aftermath *aftermath)
{
	if (!aftermath->noticed)
		return;
	notice_say(&aftermath->noticed->is, aftermath->notice, aftermath->noticed_epoch);
	sched_job_put(aftermath->noticed);
}

/* Frees the spaces to which no reference is left, with their tensors. */
static void free_spaces(struct sched *sched)
{
	bool deserted = true;
	while (deserted) {
		struct space *gone;
		lock_take(&sched->lock);
		deserted = spaces_leave(&sched->supply, &gone);
		reap(sched);
		space_free(gone);
	}
}

void sched_lock(struct sched *sched, struct aftermath *aftermath)
{
	*aftermath = (struct aftermath){.sched = sched};
	TAILQ_INIT(&aftermath->finished);
	TAILQ_INIT(&aftermath->look_ups);
	lock_take(&sched->lock);
}

void sched_unlock(struct aftermath *aftermath)
{
	struct sched *sched = aftermath->sched;
	lock_assert_held(&sched->lock);
	/* The pool of workers may be freed soon if the scheduler stops. */
	bool workers = sched->pool && !sched->stopping;
	bool readers = aftermath->kick && workers && supply_wakes_reader(&sched->supply);
	bool any_stream_left = draw_any_leaves(&sched->draw);
	bool any_space_deserted = sched->supply.n_deserted > 0;
	reap(sched);
	kick_workers(sched, readers, aftermath->kick_decoders && workers);
	if (aftermath->flush)
		journal_flush(aftermath->flush->is.journal);
	if (aftermath->news && sched->news)
		sched->news(sched->news_context);
	answer(aftermath);
	look_up(aftermath);
	say(aftermath);
	if (aftermath->refill) {
		streams_fill(aftermath->refill);
		sched_job_put(aftermath->refill);
	}
	if (any_stream_left)
		streams_let_go(sched);
	if (any_space_deserted)
		free_spaces(sched);
}

void sched_after(struct sched *sched)
{
	SECTION_SCOPE(sched, aftermath);
}
