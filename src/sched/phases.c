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

/* Does the work that critical sections leave. The table at the end gives the order. */

static void note_work_locked(const void *owner, struct aftermath *aftermath)
{
	const struct sched *sched = owner;
	lock_assert_held(&sched->lock);
	/* The pool of workers may be freed soon if the scheduler stops, so none is woken. */
	bool workers = sched->pool && !sched->stopping;
	aftermath->kick =
		aftermath->kick && workers && supply_wakes_reader(&sched->supply);
	aftermath->kick_decoders &= workers;
	aftermath->let_go = draw_any_leaves(&sched->draw);
	aftermath->free_spaces = sched->supply.n_deserted > 0;
}

static void kick_readers(void *owner, struct aftermath *aftermath)
{
	struct sched *sched = owner;
	if (aftermath->kick)
		load_pool_kick(sched->pool, LOAD_READ);
}

static void kick_decoders(void *owner, struct aftermath *aftermath)
{
	struct sched *sched = owner;
	if (!aftermath->kick_decoders)
		return;
	load_pool_kick(sched->pool, LOAD_DECODE);
	if (programs_count(sched->programs) > 0)
		load_pool_kick(sched->pool, LOAD_RUN);
}

static void flush(void *owner, struct aftermath *aftermath)
{
	(void)owner;
	if (!aftermath->flush)
		return;
	journal_flush(aftermath->flush->is.journal);
}

static void tell_news(void *owner, struct aftermath *aftermath)
{
	struct sched *sched = owner;
	if (aftermath->news && sched->news)
		sched->news(sched->news_context);
}

static void answer(void *owner, struct aftermath *aftermath)
{
	struct sched_handle *handle;
	(void)owner;
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

static void look_up(void *owner, struct aftermath *aftermath)
{
	struct sched *sched = owner;
	struct sched_handle *handle;
	while ((handle = TAILQ_FIRST(&aftermath->look_ups))) {
		TAILQ_REMOVE(&aftermath->look_ups, handle, link);
		sched_run(sched, &handle->look_up);
	}
}

static void say(void *owner, struct aftermath *aftermath)
{
	(void)owner;
	if (!aftermath->noticed)
		return;
	notice_say(&aftermath->noticed->is, aftermath->notice, aftermath->noticed_epoch);
	sched_job_put(aftermath->noticed);
}

static void refill(void *owner, struct aftermath *aftermath)
{
	(void)owner;
	if (!aftermath->refill)
		return;
	streams_fill(aftermath->refill);
	sched_job_put(aftermath->refill);
}

static void let_go(void *owner, struct aftermath *aftermath)
{
	struct sched *sched = owner;
	if (aftermath->let_go)
		streams_let_go(sched);
}

static void free_spaces(void *owner, struct aftermath *aftermath)
{
	struct sched *sched = owner;
	bool deserted = aftermath->free_spaces;
	while (deserted) {
		struct space *gone;
		lock_take(&sched->lock);
		deserted = spaces_leave(&sched->supply, &gone);
		section_reap(&sched->section);
		space_free(gone);
	}
}

static after_phase *const phases[] = {
	kick_readers,
	kick_decoders,
	flush,
	tell_news,
	answer,
	look_up,
	say,
	refill,
	let_go,
	free_spaces,
};

void phases_init(struct sched *sched)
{
	sched->section = (struct section){.lock = &sched->lock,
		.cache = sched->cache,
		.owner = sched,
		.note_work_locked = note_work_locked,
		.phases = phases,
		.n_phases = sizeof(phases) / sizeof(*phases)};
}
