// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sched/positions.h"

#include <semaphore.h>

struct sched_job;

/*
 * Binds a position, and waits for the answer. Only tests wait for the scheduler.
 *
 *   Threads: any but the scheduler's. Errors: those of sched_open.
 */

struct bind_wait {
	sem_t answered;
	struct sched_opened result;
};

static inline void sched_bind_answered(void *context, const struct sched_opened *opened)
{
	struct bind_wait *wait = context;
	wait->result = *opened;
	sem_post(&wait->answered);
}

/* Binds for the given thread. *ret_epoch: the epoch that the thread got. */
static inline int sched_bind_for(struct sched_job *job, uint32_t epoch, uint32_t position,
	const struct sched_reader *reader, sample_id *ret, uint32_t *ret_epoch)
{
	struct bind_wait wait = {.result = {0}};
	struct sched_open_callbacks callbacks = {.opened = sched_bind_answered,
		.context = &wait,
		.reader = *reader,
		.label = true};
	sem_init(&wait.answered, 0, 0);
	int err = sched_open(job, epoch, position, &callbacks);
	if (!err) {
		while (sem_wait(&wait.answered) != 0)
			;
		err = wait.result.status;
	}
	sem_destroy(&wait.answered);
	if (err)
		return err;
	*ret = sched_handle_sample(wait.result.handle);
	*ret_epoch = sched_handle_epoch(wait.result.handle);
	sched_undo(wait.result.handle);
	return 0;
}

static inline int sched_bind(
	struct sched_job *job, uint32_t epoch, uint32_t position, sample_id *ret)
{
	uint32_t number;
	struct sched_reader reader = {.done = false};
	return sched_bind_for(job, epoch, position, &reader, ret, &number);
}
