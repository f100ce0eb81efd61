// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord/coord_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * The leader uses two sets of samples: samples in any node's cache, for the sampler `exchange`, and
 * samples that their home (place.h) lacks, which may be assigned to ranks of other nodes. Recently
 * drawn samples count as cached, because they are on their way to a cache.
 *
 * The sets decide only which samples are drawn together, and which rank reads a sample. If a report
 * is missing or old, a sample may be prepared twice, or fetched, but nothing becomes wrong.
 */

#define TELL_MOST 65536 /* most bytes of a node's report about a dataset */
#define TELL_EVERY_NS (2 * SECOND_NS)
#define TELL_TTLS 8 /* pause between two reports of an idle node, in ttl */

/* --- each node -------------------------------------------------------------------------- */

/* Halves the set until it is small enough. The choice is random and differs on each node, so all
 * samples are equally likely to be reported. */
static void thin(roaring_bitmap_t *ids, uint64_t seed)
{
	for (unsigned bit = 0; roaring_bitmap_portable_size_in_bytes(ids) > TELL_MOST;
		bit++) {
		auto_bitmap roaring_bitmap_t *kept = roaring_bitmap_create();
		roaring_uint32_iterator_t *at = roaring_create_iterator(ids);
		for (; kept && at && at->has_value; roaring_advance_uint32_iterator(at))
			if (rng_mix(seed, at->current_value) >> bit & 1)
				roaring_bitmap_add(kept, at->current_value);
		if (at)
			roaring_free_uint32_iterator(at);
		if (!kept || !at || !roaring_bitmap_overwrite(ids, kept))
			roaring_bitmap_clear(ids);
	}
}

/* Reports a set of samples under the name `what`. The callback `add` makes the set. often_ns: time
 * between two reports, which determines when the report expires. */
static int tell(struct coord *coord, const char *dataset, const char *what,
	void (*add)(void *context, const char *dataset, roaring_bitmap_t *ids),
	uint64_t often_ns)
{
	const struct coord_engine *engine = coord->engine;
	auto_bitmap roaring_bitmap_t *ids = roaring_bitmap_create();
	if (!ids)
		return -ENOMEM;
	add(coord->calls.context, dataset, ids);
	roaring_bitmap_run_optimize(ids);
	thin(ids, coord->self.incarnation);
	return engine->tell(engine->context, coord->self.name, what, ids,
		2 * ttl_ms(coord) + (uint32_t)(2 * often_ns / NS_PER_MS));
}

/* Returns the name of the set of lacked samples. The set of cached samples has the dataset's name,
 * and names of datasets have no colon, so the two sets have different names. */
static const char *name_lacked(const char *dataset, char text[static COORD_TOLD])
{
	snprintf(text, COORD_TOLD, "%s:lacked", dataset);
	return text;
}

static bool must_tell_lacked(const struct coord *coord)
{
	return coord->calls.lacked && coord->self.address[0] && coord->n_live > 1 &&
	       !coord_is_quiet(coord);
}

static bool is_first_of_dataset(const struct coord *coord, const struct held_job *job)
{
	const struct held_job *other;
	LIST_FOREACH (other, &coord->jobs, link) {
		if (other == job)
			return true;
		if (other->entered &&
			strcmp(other->facts.dataset, job->facts.dataset) == 0)
			return false;
	}
	return true;
}

int coord_tell_resident(struct coord *coord)
{
	const struct held_job *job;
	char text[COORD_TOLD];
	int err = 0;
	uint64_t often = coord->ttl_ns / 2;
	if (coord_is_quiet(coord))
		often = TELL_TTLS * coord->ttl_ns;
	else if (often > TELL_EVERY_NS)
		often = TELL_EVERY_NS;
	if (coord->tell_ns && coord->now_ns - coord->tell_ns < often)
		return 0;
	LIST_FOREACH (job, &coord->jobs, link) {
		const char *dataset = job->facts.dataset;
		if (!job->entered || !is_first_of_dataset(coord, job))
			continue;
		if (!err && coord->calls.resident && job->facts.kind == SAMPLER_EXCHANGE)
			err = tell(coord, dataset, dataset, coord->calls.resident, often);
		if (!err && must_tell_lacked(coord))
			err = tell(coord, dataset, name_lacked(dataset, text),
				coord->calls.lacked, often);
	}
	if (!err)
		coord->tell_ns = coord->now_ns;
	return err;
}

/* --- the leader ------------------------------------------------------------------------- */

/* Forgets drawn samples after 4 to 8 ttl. By that time caches have the samples. */
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

/* Tells the sampler which samples came into a cache, or were evicted, since the last update. */
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

static void replace(roaring_bitmap_t **set, roaring_bitmap_t **by)
{
	bitmap_free(set);
	*set = *by;
	*by = NULL;
}

static int make_set(roaring_bitmap_t **set)
{
	if (!*set)
		*set = roaring_bitmap_create();
	return *set ? 0 : -ENOMEM;
}

static int make_drawn(struct pool *pool)
{
	int err = make_set(&pool->fresh);
	return err ? err : make_set(&pool->older);
}

/* Removes samples that no job of the pool has, because the sampler does not know them. */
static int keep_known(
	const struct coord *coord, const struct pool *pool, roaring_bitmap_t *told)
{
	const struct drawn_job *job;
	auto_bitmap roaring_bitmap_t *known = roaring_bitmap_create();
	if (!known)
		return -ENOMEM;
	LIST_FOREACH (job, &coord->drawn, link)
		if (job->pool == pool)
			roaring_bitmap_or_inplace(known, job->facts.ids);
	roaring_bitmap_and_inplace(told, known);
	return 0;
}

int coord_update_resident(struct coord *coord, struct pool *pool)
{
	const struct coord_engine *engine = coord->engine;
	if (!coord->calls.resident || pool->kind != SAMPLER_EXCHANGE)
		return 0;
	int err = make_drawn(pool);
	if (!err)
		err = make_set(&pool->resident);
	if (err || coord->now_ns < pool->told_ns)
		return err;
	auto_bitmap roaring_bitmap_t *now = roaring_bitmap_create();
	if (!now)
		return -ENOMEM;
	err = engine->told(engine->context, pool->dataset, now);
	if (!err)
		err = keep_known(coord, pool, now);
	if (err)
		return err;
	forget_fresh(coord, pool);
	roaring_bitmap_or_inplace(now, pool->fresh);
	roaring_bitmap_or_inplace(now, pool->older);
	update(pool, now);
	replace(&pool->resident, &now);
	pool->told_ns = coord->now_ns + coord->ttl_ns / 4;
	return 0;
}

int coord_update_lacked(struct coord *coord, struct pool *pool)
{
	const struct coord_engine *engine = coord->engine;
	char text[COORD_TOLD];
	if (!must_tell_lacked(coord))
		return 0;
	int err = make_drawn(pool);
	if (err || coord->now_ns < pool->lacked_ns)
		return err;
	auto_bitmap roaring_bitmap_t *now = roaring_bitmap_create();
	if (!now)
		return -ENOMEM;
	err = engine->told(engine->context, name_lacked(pool->dataset, text), now);
	if (err)
		return err;
	forget_fresh(coord, pool);
	roaring_bitmap_andnot_inplace(now, pool->fresh);
	roaring_bitmap_andnot_inplace(now, pool->older);
	replace(&pool->lacked, &now);
	pool->lacked_ns = coord->now_ns + coord->ttl_ns / 4;
	return 0;
}

void coord_note_drawn(struct pool *pool, const sample_id *ids, size_t n)
{
	if (!pool->fresh)
		return;
	roaring_bitmap_add_many(pool->fresh, n, ids);
	if (pool->resident)
		roaring_bitmap_add_many(pool->resident, n, ids);
}
