// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "draw/draw.h"
#include "sched/jobs.h"
#include "sched/positions.h"
#include "sched/sched.h"
#include "sched/drawing.h"
#include "supply/supply.h"
#include "watch/watch.h"

/* Does the work that a critical section leaves, in phases. The table at the end has their order. */

/* Tells whether there are workers to wake. A stopping pool needs no kicks and may be gone soon. */
static bool has_workers_locked(const struct sched *sched)
{
	lock_assert_held(&sched->lock);
	return sched->pool && !sched->stopping;
}

static bool kick_readers_is_due_locked(
	const void *owner, const struct aftermath *aftermath)
{
	const struct sched *sched = owner;
	lock_assert_held(&sched->lock);
	return aftermath->kick && has_workers_locked(sched) &&
	       supply_wakes_reader(&sched->supply);
}

static void kick_readers(void *owner, struct aftermath *aftermath)
{
	struct sched *sched = owner;
	(void)aftermath;
	load_pool_kick(sched->pool, LOAD_READ);
}

static bool kick_decoders_is_due_locked(
	const void *owner, const struct aftermath *aftermath)
{
	const struct sched *sched = owner;
	lock_assert_held(&sched->lock);
	return aftermath->kick_decoders && has_workers_locked(sched);
}

static void kick_decoders(void *owner, struct aftermath *aftermath)
{
	struct sched *sched = owner;
	(void)aftermath;
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
			/* another thread may have bound the position, and not yet written
			 * the record */
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

static bool let_go_is_due_locked(const void *owner, const struct aftermath *aftermath)
{
	const struct sched *sched = owner;
	lock_assert_held(&sched->lock);
	(void)aftermath;
	return draw_any_leaves(&sched->draw);
}

static void let_go(void *owner, struct aftermath *aftermath)
{
	struct sched *sched = owner;
	(void)aftermath;
	streams_let_go(sched);
}

static bool free_spaces_is_due_locked(
	const void *owner, const struct aftermath *aftermath)
{
	const struct sched *sched = owner;
	lock_assert_held(&sched->lock);
	(void)aftermath;
	return sched->supply.n_deserted > 0;
}

static void free_spaces(void *owner, struct aftermath *aftermath)
{
	struct sched *sched = owner;
	(void)aftermath;
	bool deserted = true;
	while (deserted) {
		struct space *gone;
		lock_take(&sched->lock);
		deserted = spaces_leave(&sched->supply, &gone);
		section_reap(&sched->section);
		space_free(gone);
	}
}

static const struct after_phase phases[] = {
	{kick_readers_is_due_locked, kick_readers},
	{kick_decoders_is_due_locked, kick_decoders},
	{NULL, flush},
	{NULL, tell_news},
	{NULL, answer},
	{NULL, look_up},
	{NULL, say},
	{NULL, refill},
	{let_go_is_due_locked, let_go},
	{free_spaces_is_due_locked, free_spaces},
};

#define N_PHASES (sizeof(phases) / sizeof(*phases))

void phases_init(struct sched *sched)
{
	_Static_assert(N_PHASES <= AFTER_PHASES, "there is room for all phases");
	sched->section = (struct section){.lock = &sched->lock,
		.cache = sched->cache,
		.owner = sched,
		.phases = phases,
		.n_phases = N_PHASES};
}
