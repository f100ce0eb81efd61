// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "section/section.h"
#include "image/tensor.h"
#include "sched/sched_internal.h"

#include <stdarg.h>
#include <stdio.h>

#define REAPED_AT_ONCE 16

void aftermath_init(struct aftermath *aftermath)
{
	*aftermath = (struct aftermath){0};
	TAILQ_INIT(&aftermath->finished);
	TAILQ_INIT(&aftermath->look_ups);
}

/* Frees a few tensors at a time without the lock, since freeing a large one is a system call. */
void section_reap(struct sched *sched)
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

void sched_unlock(struct sched *sched, struct aftermath *aftermath)
{
	const struct after_phases *phases = sched->phases;
	bool is_due[AFTER_PHASES];
	lock_assert_held(&sched->lock);
	for (size_t i = 0; i < phases->n; i++)
		is_due[i] = !phases->phase[i].is_due_locked ||
			    phases->phase[i].is_due_locked(sched, aftermath);
	section_reap(sched);
	for (size_t i = 0; i < phases->n; i++)
		if (is_due[i])
			phases->phase[i].run(sched, aftermath);
}

void sched_report(config_report *report, void *context, const char *format, ...)
{
	char *message = NULL;
	va_list args;
	va_start(args, format);
	int n = vasprintf(&message, format, args);
	va_end(args);
	report(context, n < 0 ? "out of memory" : message);
	if (n >= 0)
		free(message);
}
