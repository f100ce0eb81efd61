// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"

struct space *space_get_locked(
	struct source *source, const struct preparation *preparation)
{
	struct space *space;
	LIST_FOREACH (space, &source->spaces, link) {
		if (preparation_equal(&space->preparation, preparation)) {
			space->references++;
			return space;
		}
	}
	space = calloc(1, sizeof(*space));
	if (!space)
		return NULL;
	*space = (struct space){
		.source = source, .preparation = *preparation, .references = 1};
	if (cache_space_new(source->sched->cache, dataset_ids(source->dataset),
		    &space->cache) != 0) {
		free(space);
		return NULL;
	}
	LIST_INSERT_HEAD(&source->spaces, space, link);
	return space;
}

void space_put_locked(struct space *space)
{
	if (--space->references > 0)
		return;
	LIST_REMOVE(space, link);
	cache_space_free(&space->cache);
	free(space);
}
