// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"

void sched_lock(struct sched *sched, struct aftermath *aftermath)
{
	*aftermath = (struct aftermath){0};
	TAILQ_INIT(&aftermath->finished);
	TAILQ_INIT(&aftermath->look_ups);
	lock_take(&sched->lock);
}

void sched_unlock(struct sched *sched, struct aftermath *aftermath)
{
	section_close(&sched->section, aftermath);
}

void sched_after(struct sched *sched)
{
	struct aftermath aftermath;
	sched_lock(sched, &aftermath);
	sched_unlock(sched, &aftermath);
}
