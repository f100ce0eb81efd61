// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "supply/supply_internal.h"

#include <errno.h>

static bool number_is_taken(const struct source *source, uint32_t number)
{
	const struct space *space;
	LIST_FOREACH (space, &source->spaces, link) {
		if (space->number == number)
			return true;
	}
	return false;
}

static uint32_t lowest_number(const struct source *source)
{
	uint32_t number = 0;
	while (number_is_taken(source, number))
		number++;
	return number;
}

int space_make(
	struct source *source, const struct preparation *preparation, struct space **ret)
{
	struct space *space = calloc(1, sizeof(*space));
	if (!space)
		return -ENOMEM;
	*space = (struct space){.source = source, .preparation = *preparation};
	preparation_print(preparation, space->text);
	space->text_hash = rng_mix_text(0, space->text);
	int err = cache_space_make(dataset_ids(source->dataset), &space->cache);
	if (err) {
		space_free(space);
		return err;
	}
	*ret = space;
	return 0;
}

struct space *space_get(struct space **spare)
{
	struct space *space, *made = *spare;
	struct source *source = made->source;
	LIST_FOREACH (space, &source->spaces, link) {
		if (preparation_equal(&space->preparation, &made->preparation)) {
			source->supply->n_deserted -= space->references == 0;
			space->references++;
			return space;
		}
	}
	made->number = lowest_number(source);
	made->references = 1;
	cache_space_put_in(source->supply->cache, made->cache);
	LIST_INSERT_HEAD(&source->spaces, made, link);
	*spare = NULL;
	return made;
}

void space_put(struct space *space)
{
	if (--space->references == 0)
		space->source->supply->n_deserted++;
}

static struct space *first_deserted(struct supply *supply)
{
	struct space *space;
	for (size_t i = 0; i < supply->n_sources; i++)
		LIST_FOREACH (space, &supply->sources[i]->spaces, link)
			if (space->references == 0)
				return space;
	return NULL;
}

#define STEP_TENSORS 64

bool spaces_leave(struct supply *supply, struct space **ret)
{
	struct space *space = first_deserted(supply);
	*ret = NULL;
	if (!space)
		return false;
	if (!cache_space_empty(space->cache, STEP_TENSORS))
		return true;
	cache_space_take_out(space->cache);
	LIST_REMOVE(space, link);
	*ret = space;
	return --supply->n_deserted > 0;
}

void space_free(struct space *space)
{
	if (!space)
		return;
	cache_space_free(&space->cache);
	bitmap_free(&space->bad);
	free(space);
}

bool space_has(const struct space *space, sample_id sample)
{
	const struct wanted *wanted;
	if (cache_state(space->cache, sample) != CACHE_ABSENT)
		return true;
	wanted = wanted_find(space, sample);
	return wanted && wanted->state != WANTED_OPEN_ONLY;
}

enum served how_served(struct space *space, sample_id sample)
{
	if (cache_state(space->cache, sample) == CACHE_READY)
		return SERVED_HIT;
	return space_has(space, sample) ? SERVED_SHARED : SERVED_DECODED;
}

uint32_t tier_need(const struct source *source, sample_id sample, bool loading)
{
	const struct space *space;
	uint32_t need = 0;
	LIST_FOREACH (space, &source->spaces, link) {
		const struct wanted *wanted = wanted_find(space, sample);
		need += cache_need(space->cache, sample);
		need += wanted && wanted->state != WANTED_OPEN_ONLY &&
			(loading || wanted->state != WANTED_LOADING);
	}
	return need;
}

#define FIRST_COST_NS UINT64_C(2000000) /* expected duration until one was measured */
#define OLD_PARTS 7 /* weight of the old mean; a new value has weight 1 */

uint64_t space_cost(const struct space *space)
{
	return space->cost_ns ? space->cost_ns : FIRST_COST_NS;
}

void mean_add(uint64_t *mean, uint64_t value)
{
	uint64_t old = *mean ? *mean : value;
	*mean = (OLD_PARTS * old + value) / (OLD_PARTS + 1);
}

void supply_note_cost(struct space *space, uint64_t decode_ns)
{
	struct supply *supply = space->source->supply;
	mean_add(&space->cost_ns, decode_ns);
	mean_add(&supply->cost_ns, decode_ns);
	supply->decoded_ns += decode_ns;
}
