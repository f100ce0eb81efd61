// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "cache/cache.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

/* Loads a tensor of one byte, and frees the tensors that this evicts. */
static inline void cache_load_one(
	struct cache *cache, struct cache_space *space, sample_id id)
{
	cr_assert(zero(int, cache_pin(space, id)));
	cr_assert(zero(int, cache_reserve(space, id, 1, false)));
	cache_publish(space, id, tensor_new((struct tensor_shape){0}, 1));
	cache_unpin(space, id);
	tensor_free(cache_reap(cache));
}
