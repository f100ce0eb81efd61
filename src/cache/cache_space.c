// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "cache/cache_internal.h"

#include <errno.h>
#include <stdlib.h>

int cache_space_make(uint32_t n_ids, struct cache_space **ret)
{
	struct cache_space *space = cache_alloc(sizeof(*space));
	size_t n = n_ids ? n_ids : 1;
	if (!space)
		return -ENOMEM;
	space->n_ids = n_ids;
	LIST_INIT(&space->entries);
	space->differs = cache_alloc(n * sizeof(*space->differs));
	space->by_id = cache_alloc(n * sizeof(struct entry *));
	if (!space->differs || !space->by_id) {
		cache_space_free(&space);
		return -ENOMEM;
	}
	*ret = space;
	return 0;
}

void cache_space_put_in(struct cache *cache, struct cache_space *space)
{
	ensure(!space->cache);
	space->cache = cache;
	LIST_INSERT_HEAD(&cache->spaces, space, link);
}

int cache_space_new(struct cache *cache, uint32_t n_ids, struct cache_space **ret)
{
	int err = cache_space_make(n_ids, ret);
	if (!err)
		cache_space_put_in(cache, *ret);
	return err;
}

bool cache_space_empty(struct cache_space *space, uint32_t n)
{
	ensure(space->need_sum == 0);
	for (; !LIST_EMPTY(&space->entries) && n > 0; n--)
		entry_die(space->cache, LIST_FIRST(&space->entries));
	return LIST_EMPTY(&space->entries);
}

void cache_space_take_out(struct cache_space *space)
{
	ensure(space->cache->change.space != space);
	(void)cache_space_empty(space, UINT32_MAX);
	LIST_REMOVE(space, link);
	space->cache = NULL;
}

void cache_space_free(struct cache_space **space)
{
	if (!*space)
		return;
	if ((*space)->cache)
		cache_space_take_out(*space);
	free((*space)->by_id);
	free((*space)->differs);
	free(*space);
	*space = NULL;
}
