// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord/coord_facts.h"
#include "coord/coord_internal.h"

#include "base/ensure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct filling {
	const struct coord_job *facts;
	const struct coord_offers *offers;
	uint32_t n;
	/* base: length of the log of `epoch` before the repair; end: its length after the repair */
	uint32_t epoch, base, end;
	roaring_bitmap_t *remaining;
	/* ids[r]: samples of rank r from `base` to `end`; SAMPLE_NONE: not filled */
	sample_id **ids;
};

static bool is_of(const struct filling *filling, const struct coord_offer *offer)
{
	return offer->epoch == filling->epoch && offer->rank < filling->facts->ranks &&
	       strcmp(offer->job, filling->facts->name) == 0;
}

/* Returns the length of the repaired log, which is extended mini-batch by mini-batch until it
 * contains all offered positions. */
static uint32_t find_end(const struct filling *filling)
{
	uint32_t end = filling->base;
	for (size_t i = 0; i < filling->offers->n; i++) {
		const struct coord_offer *offer = &filling->offers->offers[i];
		if (!is_of(filling, offer))
			continue;
		uint64_t to = (uint64_t)offer->base + offer->n;
		while (end < filling->n &&
			rank_length(filling->facts, end, offer->rank) < to) {
			uint32_t left = filling->n - end;
			uint32_t batch = filling->facts->batch;
			uint32_t rest = batch - end % batch;
			end += left < rest ? left : rest;
		}
	}
	return end;
}

static uint32_t count_of(const struct filling *filling, uint32_t rank)
{
	return rank_length(filling->facts, filling->end, rank) -
	       rank_length(filling->facts, filling->base, rank);
}

static void place_offer(struct filling *filling, const struct coord_offer *offer)
{
	uint32_t from = rank_length(filling->facts, filling->base, offer->rank);
	uint32_t to = rank_length(filling->facts, filling->end, offer->rank);
	for (uint32_t i = 0; i < offer->n; i++) {
		uint32_t at = offer->base + i;
		if (at < from || at >= to)
			continue;
		sample_id *place = &filling->ids[offer->rank][at - from];
		if (*place == SAMPLE_NONE &&
			roaring_bitmap_remove_checked(filling->remaining, offer->ids[i]))
			*place = offer->ids[i];
	}
}

/* Gives a random remaining sample to each position that no journal has offered. */
static int fill_holes(struct coord *coord, struct filling *filling)
{
	size_t n = roaring_bitmap_get_cardinality(filling->remaining);
	auto_free sample_id *left = reallocarray(NULL, n + 1, sizeof(*left));
	if (!left)
		return -ENOMEM;
	roaring_bitmap_to_uint32_array(filling->remaining, left);
	for (uint32_t r = 0; r < filling->facts->ranks; r++) {
		uint32_t count = count_of(filling, r);
		for (uint32_t i = 0; i < count; i++) {
			if (filling->ids[r][i] != SAMPLE_NONE)
				continue;
			ensure(n > 0);
			size_t k = rng_below(&coord->rng, n);
			filling->ids[r][i] = left[k];
			left[k] = left[--n];
		}
	}
	return 0;
}

static int make_places(struct filling *filling)
{
	for (uint32_t r = 0; r < filling->facts->ranks; r++) {
		uint32_t count = count_of(filling, r);
		filling->ids[r] = reallocarray(NULL, count + 1, sizeof(sample_id));
		if (!filling->ids[r])
			return -ENOMEM;
		for (uint32_t i = 0; i < count; i++)
			filling->ids[r][i] = SAMPLE_NONE;
	}
	return 0;
}

static int send(
	struct coord *coord, const struct filling *filling, struct coord_engine_job *log)
{
	const struct coord_engine *engine = coord->engine;
	struct coord_append append = {.job = filling->facts->name,
		.epoch = filling->epoch,
		.base = filling->base,
		.count = filling->end - filling->base,
		.ranks = filling->facts->ranks,
		.batch = filling->facts->batch,
		.ids = (const sample_id *const *)filling->ids,
		.was_epoch = log->epoch,
		.was_next = log->next};
	int err = engine->fill(engine->context, coord->view.run, &coord->token, &append);
	if (!err) {
		log->epoch = filling->epoch;
		log->next = filling->end;
	}
	return err;
}

static int fill(
	struct coord *coord, struct filling *filling, struct coord_engine_job *log)
{
	int err = make_places(filling);
	if (!err)
		err = coord_subtract_log(coord, filling->facts, filling->epoch,
			filling->base, filling->remaining);
	if (err)
		return err;
	for (size_t i = 0; i < filling->offers->n; i++)
		if (is_of(filling, &filling->offers->offers[i]))
			place_offer(filling, &filling->offers->offers[i]);
	err = fill_holes(coord, filling);
	return err ? err : send(coord, filling, log);
}

/* Repairs the log of one epoch. whole: the epoch had been drawn completely, so its log gets all
 * samples of the job. */
static int fill_epoch(struct coord *coord, const struct coord_job *facts,
	struct coord_engine_job *log, const struct coord_offers *offers, uint32_t epoch,
	bool whole)
{
	struct filling filling = {.facts = facts,
		.offers = offers,
		.n = log->n,
		.epoch = epoch,
		.base = epoch == log->epoch ? log->next : 0,
		.remaining = roaring_bitmap_copy(facts->ids),
		.ids = calloc(facts->ranks, sizeof(sample_id *))};
	int err = -ENOMEM;
	filling.end = whole ? log->n : find_end(&filling);
	if (filling.remaining && filling.ids)
		err = filling.end == filling.base && epoch == log->epoch
			      ? 0
			      : fill(coord, &filling, log);
	for (uint32_t r = 0; filling.ids && r < facts->ranks; r++)
		free(filling.ids[r]);
	free(filling.ids);
	if (filling.remaining)
		roaring_bitmap_free(filling.remaining);
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
