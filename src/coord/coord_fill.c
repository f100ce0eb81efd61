// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord/coord_facts.h"
#include "coord/coord_internal.h"

#include "base/bitmap.h"
#include "base/ensure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Tells whether the offer is for the job and the epoch of `to`. */
static bool is_for(const struct coord_offer *offer, const struct coord_append *to)
{
	return offer->epoch == to->epoch && offer->rank < to->ranks &&
	       strcmp(offer->job, to->job) == 0;
}

/* Returns the length of the repaired log, which is extended mini-batch by mini-batch until it
 * contains all offered positions, but to n samples at most. */
static uint32_t find_end(
	const struct coord_append *to, const struct coord_offers *offers, uint32_t n)
{
	uint32_t end = to->base;
	for (size_t i = 0; i < offers->n; i++) {
		const struct coord_offer *offer = &offers->offers[i];
		if (!is_for(offer, to))
			continue;
		uint64_t last = (uint64_t)offer->base + offer->n;
		while (end < n &&
			ranks_position(end, to->batch, to->ranks, offer->rank) < last) {
			uint32_t left = n - end, rest = to->batch - end % to->batch;
			end += left < rest ? left : rest;
		}
	}
	return end;
}

/* Copies each offered sample to its position in `ids`, and removes the sample from `remaining`.
 * Copies only to holes (SAMPLE_NONE), and only samples that `remaining` has. */
static void place_offer(const struct coord_append *to, const struct coord_offer *offer,
	roaring_bitmap_t *remaining, sample_id *ids)
{
	uint32_t from = ranks_position(to->base, to->batch, to->ranks, offer->rank);
	uint32_t count = append_count(to, offer->rank);
	size_t begin = append_begin(to, offer->rank);
	for (uint32_t i = 0; i < offer->n; i++) {
		uint32_t at = offer->base + i;
		if (at < from || at - from >= count)
			continue;
		sample_id *place = &ids[begin + at - from];
		if (*place == SAMPLE_NONE &&
			roaring_bitmap_remove_checked(remaining, offer->ids[i]))
			*place = offer->ids[i];
	}
}

/* Replaces each hole (SAMPLE_NONE) in the n entries of `ids` by a random sample of `remaining`. */
static int fill_holes(
	struct coord *coord, const roaring_bitmap_t *remaining, sample_id *ids, size_t n)
{
	size_t n_left = roaring_bitmap_get_cardinality(remaining);
	auto_free sample_id *left = reallocarray(NULL, n_left + 1, sizeof(*left));
	if (!left)
		return -ENOMEM;
	roaring_bitmap_to_uint32_array(remaining, left);
	for (size_t i = 0; i < n; i++) {
		if (ids[i] != SAMPLE_NONE)
			continue;
		ensure(n_left > 0);
		size_t k = rng_below(&coord->rng, n_left);
		ids[i] = left[k];
		left[k] = left[--n_left];
	}
	return 0;
}

/* Repairs the log of one epoch. whole: the epoch had been drawn completely, so its log gets all
 * samples of the job. */
static int fill_epoch(struct coord *coord, const struct coord_job *facts,
	struct coord_engine_job *log, const struct coord_offers *offers, uint32_t epoch,
	bool whole)
{
	const struct coord_engine *engine = coord->engine;
	struct coord_append to = {.job = facts->name,
		.epoch = epoch,
		.base = epoch == log->epoch ? log->next : 0,
		.ranks = facts->ranks,
		.batch = facts->batch,
		.was_epoch = log->epoch,
		.was_next = log->next};
	uint32_t end = whole ? log->n : find_end(&to, offers, log->n);
	to.count = end - to.base;
	if (to.count == 0 && epoch == log->epoch)
		return 0;
	auto_bitmap roaring_bitmap_t *remaining = roaring_bitmap_copy(facts->ids);
	auto_free sample_id *ids = reallocarray(NULL, (size_t)to.count + 1, sizeof(*ids));
	if (!remaining || !ids)
		return -ENOMEM;
	for (uint32_t i = 0; i < to.count; i++)
		ids[i] = SAMPLE_NONE;
	int err = coord_subtract_log(coord, facts, epoch, to.base, remaining);
	if (err)
		return err;
	for (size_t i = 0; i < offers->n; i++)
		if (is_for(&offers->offers[i], &to))
			place_offer(&to, &offers->offers[i], remaining, ids);
	to.ids = ids;
	err = fill_holes(coord, remaining, ids, to.count);
	if (!err)
		err = engine->fill(engine->context, coord->view.run, &coord->token, &to);
	if (!err) {
		log->epoch = epoch;
		log->next = end;
	}
	return err;
}

int coord_fill(struct coord *coord, const struct coord_engine_job *job,
	const struct coord_offers *offers)
{
	struct coord_engine_job log = *job;
	uint32_t last = log.epoch;
	bool any = false;
	for (size_t i = 0; i < offers->n; i++) {
		const struct coord_offer *offer = &offers->offers[i];
		if (strcmp(offer->job, log.name) != 0 || offer->epoch < log.epoch)
			continue;
		any = true;
		if (offer->epoch > last)
			last = offer->epoch;
	}
	struct coord_job facts;
	if (!any)
		return 0;
	int err = coord->engine->facts(coord->engine->context, log.name, &facts);
	if (err)
		return err;
	if (!coord_is_same_job(&facts, job)) {
		coord_facts_free(&facts);
		return -EBADE;
	}
	/* Epoch `last` has begun, so epoch last - 1 was drawn completely. */
	if (last > log.epoch)
		err = fill_epoch(coord, &facts, &log, offers, last - 1, true);
	if (!err)
		err = fill_epoch(coord, &facts, &log, offers, last, false);
	coord_facts_free(&facts);
	return err;
}
