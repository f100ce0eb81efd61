// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "place/place.h"
#include "base/compare.h"
#include "base/rng.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* A node. The entries of a table are sorted by capacity, and by hash if capacities are equal. So
 * their order does not depend on the order of the caller's nodes. */
struct entry {
	uint64_t hash;
	double capacity;
	uint32_t index; /* the node's index in the caller's array */
};

struct place {
	uint32_t n;
	struct entry entries[];
};

/* A node's score for a sample, computed from the random number `draw`. The smallest wins. */
struct rank {
	double score;
	uint64_t draw;
	uint32_t entry;
};

#define DRAW_BITS 53 /* bits of a double's significand */

static inline uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 32) * UINT64_C(0xd6e8feb86659fd93);
	z = (z ^ z >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return z ^ z >> 32;
}

static inline uint64_t draw(const struct entry *entry, uint64_t key)
{
	return mix(entry->hash ^ key) >> (64 - DRAW_BITS);
}

static double score(uint64_t drawn, double capacity)
{
	return -log((double)(drawn + 1) * 0x1p-53) / capacity;
}

static bool is_before(const struct rank *a, const struct rank *b)
{
	if (a->score < b->score || a->score > b->score)
		return a->score < b->score;
	return a->draw != b->draw ? a->draw > b->draw : a->entry < b->entry;
}

uint64_t place_hash(const void *bytes, size_t n)
{
	return mix(fnv_add(FNV_BASIS, bytes, n));
}

static int compare_entries(const void *a_, const void *b_)
{
	const struct entry *a = a_, *b = b_;
	if (a->capacity < b->capacity || a->capacity > b->capacity)
		return a->capacity < b->capacity ? -1 : 1;
	return a->hash < b->hash ? -1 : a->hash > b->hash;
}

static bool are_different(uint64_t *hashes, uint32_t n)
{
	qsort(hashes, n, sizeof(*hashes), compare_u64);
	for (uint32_t i = 1; i < n; i++)
		if (hashes[i] == hashes[i - 1])
			return false;
	return true;
}

int place_new(const struct place_node *nodes, uint32_t n, struct place **ret)
{
	if (n > PLACE_MOST_NODES)
		return -EINVAL;
	auto_free uint64_t *hashes = calloc(n + 1, sizeof(*hashes));
	auto_free struct place *place =
		calloc(1, sizeof(*place) + n * sizeof(place->entries[0]));
	if (!hashes || !place)
		return -ENOMEM;
	place->n = n;
	for (uint32_t i = 0; i < n; i++) {
		if (!(nodes[i].capacity > 0) || !isfinite(nodes[i].capacity))
			return -EINVAL;
		hashes[i] = nodes[i].hash;
		place->entries[i] = (struct entry){
			.hash = nodes[i].hash, .capacity = nodes[i].capacity, .index = i};
	}
	if (!are_different(hashes, n))
		return -EINVAL;
	qsort(place->entries, n, sizeof(place->entries[0]), compare_entries);
	*ret = place;
	place = NULL;
	return 0;
}

void place_free(struct place **place)
{
	free(*place);
	*place = NULL;
}

/* Returns the node with the smallest score among the nodes of the same capacity as entry *i, which
 * follow one another. This is the node with the largest draw, so only one score, a logarithm, is
 * computed. Sets *i to the first entry of another capacity. */
static struct rank first_of_capacity(const struct place *place, uint64_t key, uint32_t *i)
{
	double capacity = place->entries[*i].capacity;
	struct rank first = {.draw = draw(&place->entries[*i], key), .entry = *i};
	for (++*i; *i < place->n && place->entries[*i].capacity <= capacity; ++*i) {
		uint64_t drawn = draw(&place->entries[*i], key);
		if (drawn > first.draw) {
			first.draw = drawn;
			first.entry = *i;
		}
	}
	first.score = score(first.draw, capacity);
	return first;
}

uint32_t place_home(const struct place *place, uint64_t space, sample_id sample)
{
	uint64_t key = rng_mix(space, sample);
	uint32_t i = 0;
	if (place->n == 0)
		return PLACE_NONE;
	struct rank home = first_of_capacity(place, key, &i);
	while (i < place->n) {
		struct rank other = first_of_capacity(place, key, &i);
		if (is_before(&other, &home))
			home = other;
	}
	return place->entries[home.entry].index;
}

static struct rank rank_of(const struct place *place, uint64_t key, uint32_t entry)
{
	const struct entry *e = &place->entries[entry];
	uint64_t drawn = draw(e, key);
	return (struct rank){
		.score = score(drawn, e->capacity), .draw = drawn, .entry = entry};
}

uint32_t place_next(
	const struct place *place, uint64_t space, sample_id sample, uint32_t after)
{
	uint64_t key = rng_mix(space, sample);
	uint32_t i = 0;
	while (i < place->n && place->entries[i].index != after)
		i++;
	if (i == place->n)
		return PLACE_NONE;
	struct rank last = rank_of(place, key, i), next = {.entry = PLACE_NONE};
	for (i = 0; i < place->n; i++) {
		struct rank other = rank_of(place, key, i);
		if (is_before(&last, &other) &&
			(next.entry == PLACE_NONE || is_before(&other, &next)))
			next = other;
	}
	return next.entry == PLACE_NONE ? PLACE_NONE : place->entries[next.entry].index;
}

uint32_t place_joader(uint32_t n_nodes, const uint32_t *job_nodes, uint32_t n_job,
	uint64_t space, sample_id sample)
{
	uint64_t key = rng_mix(space, sample);
	if (n_job == 0)
		return PLACE_NONE;
	uint32_t node = (uint32_t)(key % n_nodes);
	if (bsearch(&node, job_nodes, n_job, sizeof(*job_nodes), compare_u32))
		return node;
	return job_nodes[mix(key + 1) % n_job];
}
