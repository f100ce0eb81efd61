// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord/coord_internal.h"

#include <errno.h>
#include <string.h>

/*
 * Finds the samples that are resident anywhere in the group, for exchange. From time to time each
 * node reports the samples that it holds. The leader's sampler gets the union of these reports and
 * of the recently drawn samples, which are on their way to a cache.
 *
 * The sets influence only which samples are drawn together. If a report is missing or old, a sample
 * may be prepared a second time, but nothing becomes wrong.
 */

#define TELL_MOST 65536 /* most bytes that a node reports about a dataset */
#define TELL_EVERY_NS (2 * NS_PER_S)
#define TELL_TTLS                                                                        \
	8 /* ttl between two reports in a quiet time, when caches do not change */

/* --- each node -------------------------------------------------------------------------- */

/* Drops half of the samples until the set is small enough. The choice is random and differs on each
 * node, so that all samples are equally likely to be reported. */
static void thin(roaring_bitmap_t *ids, uint64_t seed)
{
	for (unsigned bit = 0; roaring_bitmap_portable_size_in_bytes(ids) > TELL_MOST;
		bit++) {
		roaring_bitmap_t *kept = roaring_bitmap_create();
		roaring_uint32_iterator_t *at = roaring_create_iterator(ids);
		for (; kept && at && at->has_value; roaring_advance_uint32_iterator(at))
			if (rng_mix(seed, at->current_value) >> bit & 1)
				roaring_bitmap_add(kept, at->current_value);
		if (at)
			roaring_free_uint32_iterator(at);
		if (!kept || !at || !roaring_bitmap_overwrite(ids, kept))
			roaring_bitmap_clear(ids);
		if (kept)
			roaring_bitmap_free(kept);
	}
}

static int tell(struct coord *coord, const char *dataset, uint64_t often_ns)
{
	const struct coord_engine *engine = coord->engine;
	roaring_bitmap_t *ids = roaring_bitmap_create();
	if (!ids)
		return -ENOMEM;
	coord->calls.resident(coord->calls.context, dataset, ids);
	roaring_bitmap_run_optimize(ids);
	thin(ids, coord->self.incarnation);
	int err = engine->tell(engine->context, coord->self.name, dataset, ids,
		2 * ttl_ms(coord) + (uint32_t)(2 * often_ns / NS_PER_MS));
	roaring_bitmap_free(ids);
	return err;
}

static bool is_first_of_dataset(const struct coord *coord, const struct held_job *job)
{
	const struct held_job *other;
	LIST_FOREACH (other, &coord->jobs, link) {
		if (other == job)
			return true;
		if (other->entered && other->facts.kind == SAMPLER_EXCHANGE &&
			strcmp(other->facts.dataset, job->facts.dataset) == 0)
			return false;
	}
	return true;
}

int coord_tell_resident(struct coord *coord)
{
	const struct held_job *job;
	int err = 0;
	if (!coord->calls.resident || coord->now_ns < coord->tell_ns)
		return 0;
	uint64_t often = coord->ttl_ns / 2;
	if (coord_is_quiet(coord))
		often = TELL_TTLS * coord->ttl_ns;
	else if (often > TELL_EVERY_NS)
		often = TELL_EVERY_NS;
	LIST_FOREACH (job, &coord->jobs, link)
		if (!err && job->entered && job->facts.kind == SAMPLER_EXCHANGE &&
			is_first_of_dataset(coord, job))
			err = tell(coord, job->facts.dataset, often);
	if (!err)
		coord->tell_ns = coord->now_ns + often;
	return err;
}

/* --- the leader ------------------------------------------------------------------------- */

/* Forgets samples that were drawn 4 to 8 ttl ago, since they are no longer on their way to a
 * cache. */
static void forget_fresh(struct coord *coord, struct pool *pool)
{
	uint64_t age_ns = coord->now_ns - pool->fresh_ns;
	if (age_ns < 4 * coord->ttl_ns)
		return;
	if (age_ns >= 8 * coord->ttl_ns)
		roaring_bitmap_clear(pool->fresh);
	roaring_bitmap_t *older = pool->older;
	roaring_bitmap_clear(older);
	pool->older = pool->fresh;
	pool->fresh = older;
	pool->fresh_ns = coord->now_ns;
}

/* Updates the sampler with the samples that became resident since the last update, and with those
 * that were evicted. */
static void update(struct pool *pool, const roaring_bitmap_t *now)
{
	roaring_uint32_iterator_t *at = roaring_create_iterator(now);
	for (; at && at->has_value; roaring_advance_uint32_iterator(at))
		if (!roaring_bitmap_contains(pool->resident, at->current_value))
			sampler_resident(pool->sampler, 0, at->current_value);
	if (at)
		roaring_free_uint32_iterator(at);
	at = roaring_create_iterator(pool->resident);
	for (; at && at->has_value; roaring_advance_uint32_iterator(at))
		if (!roaring_bitmap_contains(now, at->current_value))
			sampler_evicted(pool->sampler, 0, at->current_value);
	if (at)
		roaring_free_uint32_iterator(at);
}

static int make_sets(struct pool *pool)
{
	roaring_bitmap_t **sets[] = {&pool->resident, &pool->fresh, &pool->older};
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		if (!*sets[i] && !(*sets[i] = roaring_bitmap_create()))
			return -ENOMEM;
	return 0;
}

/* Removes samples that do not belong to the pool's jobs, since these can't be exchanged. */
static int keep_known(
	const struct coord *coord, const struct pool *pool, roaring_bitmap_t *told)
{
	const struct drawn_job *job;
	roaring_bitmap_t *known = roaring_bitmap_create();
	if (!known)
		return -ENOMEM;
	LIST_FOREACH (job, &coord->drawn, link)
		if (job->pool == pool)
			roaring_bitmap_or_inplace(known, job->facts.ids);
	roaring_bitmap_and_inplace(told, known);
	roaring_bitmap_free(known);
	return 0;
}

int coord_update_resident(struct coord *coord, struct pool *pool)
{
	const struct coord_engine *engine = coord->engine;
	if (!coord->calls.resident || pool->kind != SAMPLER_EXCHANGE)
		return 0;
	int err = make_sets(pool);
	if (err || coord->now_ns < pool->told_ns)
		return err;
	roaring_bitmap_t *now = roaring_bitmap_create();
	if (!now)
		return -ENOMEM;
	err = engine->told(engine->context, pool->dataset, now);
	if (!err)
		err = keep_known(coord, pool, now);
	if (!err) {
		forget_fresh(coord, pool);
		roaring_bitmap_or_inplace(now, pool->fresh);
		roaring_bitmap_or_inplace(now, pool->older);
		update(pool, now);
		roaring_bitmap_free(pool->resident);
		pool->resident = now;
		pool->told_ns = coord->now_ns + coord->ttl_ns / 4;
		return 0;
	}
	roaring_bitmap_free(now);
	return err;
}

void coord_note_drawn(struct pool *pool, const sample_id *ids, size_t n)
{
	if (!pool->fresh)
		return;
	roaring_bitmap_add_many(pool->fresh, n, ids);
	roaring_bitmap_add_many(pool->resident, n, ids);
}

void coord_free_resident(struct pool *pool)
{
	roaring_bitmap_t *const sets[] = {pool->resident, pool->fresh, pool->older};
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		if (sets[i])
			roaring_bitmap_free(sets[i]);
}
