// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"

void sched_lock(struct sched *sched, struct aftermath *aftermath)
{
	*aftermath = (struct aftermath){.sched = sched};
	TAILQ_INIT(&aftermath->finished);
	TAILQ_INIT(&aftermath->look_ups);
	lock_take(&sched->lock);
}

void sched_unlock(struct aftermath *aftermath)
{
	section_close(&aftermath->sched->section, aftermath);
}

void sched_after(struct sched *sched)
{
	SECTION_SCOPE(sched, aftermath);
}
