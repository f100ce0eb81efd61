// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"

/* What others are told of how the scheduler does. */

bool sched_dataset_times(
	struct sched *sched, uint32_t number, struct sched_dataset_times *ret)
{
	LOCK_SCOPE(&sched->lock);
	*ret = (struct sched_dataset_times){0};
	if (number >= sched->n_sources)
		return false;
	const struct source *source = &sched->sources[number];
	if (!source->dataset || source->removed)
		return false;
	histogram_copy_add(&source->reads, &ret->read);
	histogram_copy_add(&source->decodes, &ret->decode);
	return true;
}
