// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "sched/sched.h"
#include "sched/sched_internal.h"

/* sched_run_later puts work into sched->postponed. The housekeeper passes this work to the workers
 * when it is due, or when the scheduler stops. */

void sched_run(struct sched *sched, struct load_work *work)
{
	if (sched->pool)
		load_pool_run(sched->pool, work);
	else
		work->run(work);
}

void sched_run_later(struct sched *sched, struct load_work *work, uint64_t delay_ns)
{
	lock_take(&sched->lock);
	bool house = sched->keeps_house && !sched->stopping;
	if (house) {
		work->due_ns = clock_now_ns() + delay_ns;
		TAILQ_INSERT_TAIL(&sched->postponed, work, link);
		pthread_cond_signal(&sched->house_cond);
	}
	lock_release(&sched->lock);
	if (!house)
		sched_run(sched, work);
}

static void take_off_locked(struct sched *sched, struct load_work *work)
{
	lock_assert_held(&sched->lock);
	TAILQ_REMOVE(&sched->postponed, work, link);
	work->due_ns = 0;
}

static bool take_back_postponed(struct sched *sched, struct load_work *work)
{
	LOCK_SCOPE(&sched->lock);
	if (work->due_ns == 0)
		return false;
	take_off_locked(sched, work);
	return true;
}

bool sched_take_back(struct sched *sched, struct load_work *work)
{
	return take_back_postponed(sched, work) ||
	       (sched->pool && load_pool_take_back(sched->pool, work));
}

uint64_t postponed_first_due_locked(const struct sched *sched)
{
	const struct load_work *work;
	uint64_t first = UINT64_MAX;
	lock_assert_held(&sched->lock);
	TAILQ_FOREACH (work, &sched->postponed, link)
		if (work->due_ns < first)
			first = work->due_ns;
	return first;
}

static struct load_work *take_due(struct sched *sched, uint64_t now_ns)
{
	struct load_work *work;
	LOCK_SCOPE(&sched->lock);
	TAILQ_FOREACH (work, &sched->postponed, link)
		if (work->due_ns <= now_ns || sched->stopping)
			break;
	if (work)
		take_off_locked(sched, work);
	return work;
}

void postponed_run_due(struct sched *sched)
{
	struct load_work *work;
	uint64_t now_ns = clock_now_ns();
	while ((work = take_due(sched, now_ns)))
		sched_run(sched, work);
}
