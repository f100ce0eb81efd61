// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "supply/supply_internal.h"

#include <string.h>

/*
 * Finds images that several datasets have. The thread that has read a file computes the identity
 * of the file's image (load_identity). So no identities have to be stored, and a file that was
 * replaced has another identity.
 *
 *     same (an image, prepared in one way) --- places: samples of spaces whose tensor is in
 *                                              the cache, or is being loaded
 *
 * Before a sample is decoded, its image is looked up here. If another place has the tensor, the
 * sample takes it: two spaces then hold one tensor, each with its own pins and need, and the cache
 * counts its bytes twice. If another place is loading the tensor, the sample waits.
 */

struct same_key {
	struct load_identity identity;
	uint64_t preparation; /* hash of the preparation's text */
};

struct same {
	UT_hash_handle hash;
	struct same_key key;
	LIST_HEAD(, same_place) places; /* never empty */
};

struct same_place {
	UT_hash_handle hash;
	struct wanted_key key;
	struct same *same;
	LIST_ENTRY(same_place) link;
};

/* state of a tensor in the cache, from worst to best */
enum there { NOT_THERE, ON_ITS_WAY, THERE };

/* Tells whether the sample may take its tensor from another dataset, where the image has another
 * name. Tensors that depend on the name are never shared: arrays of a program, groups of frames,
 * and tensors of a job with sections [tensor NAME], which select samples by path. */
static bool is_identified(const struct wanted *first)
{
	static const struct load_identity unknown;
	return first->key.space->source->supply->n_sources > 1 &&
	       !first->key.space->preparation.array &&
	       !first->key.space->preparation.sections &&
	       !first->key.space->preparation.frames &&
	       memcmp(&first->task.identity, &unknown, sizeof(unknown)) != 0;
}

/* Returns the key of `wanted`. first: the first sample of its chain, the only one whose task has
 * the image's identity. */
static struct same_key key_of(const struct wanted *first, const struct wanted *wanted)
{
	return (struct same_key){first->task.identity, wanted->key.space->text_hash};
}

static struct same *find(const struct supply *supply, const struct same_key *key)
{
	struct same *same;
	HASH_FIND(hash, supply->same, key, sizeof(*key), same);
	return same;
}

/* Tells whether the cache has the tensor of the sample at `place`. THERE: *ret is a reference to
 * the tensor, which the caller frees. If the tensor's size differs from the catalogue's size for
 * `wanted`, or this size is not known, the result is NOT_THERE. */
static enum there look_at(
	const struct same_place *place, const struct wanted *wanted, struct tensor **ret)
{
	const struct space *space = place->key.space, *own = wanted->key.space;
	sample_id sample = (sample_id)place->key.sample;
	if (!preparation_equal(&space->preparation, &own->preparation))
		return NOT_THERE; /* The hashes are equal by chance. */
	if (cache_state(space->cache, sample) == CACHE_LOADING)
		return ON_ITS_WAY;
	*ret = cache_share(space->cache, sample);
	if (*ret && (*ret)->bytes == wanted->needs.memory.tensor)
		return THERE;
	tensor_free(*ret);
	*ret = NULL;
	return NOT_THERE;
}

/* Looks at all samples that have the same image, prepared in the same way, and returns the best
 * state. THERE: *ret is a reference to the tensor, which the caller frees. */
static enum there look(
	const struct wanted *first, const struct wanted *wanted, struct tensor **ret)
{
	const struct same_key key = key_of(first, wanted);
	const struct same *same = find(wanted->key.space->source->supply, &key);
	const struct same_place *place;
	enum there best = NOT_THERE;
	*ret = NULL;
	if (!same)
		return NOT_THERE;
	LIST_FOREACH (place, &same->places, link) {
		enum there there = look_at(place, wanted, ret);
		if (there == THERE)
			return THERE;
		if (there > best)
			best = there;
	}
	return best;
}

/* Returns true if each sample of the chain can take its tensor from another place, and at least one
 * of these tensors is still being loaded. If one tensor is nowhere, the image has to be decoded
 * anyway, and this decode makes all tensors of the chain. */
bool same_is_under_way(const struct wanted *first)
{
	bool under_way = false;
	if (!is_identified(first))
		return false;
	for (const struct wanted *wanted = first; wanted; wanted = wanted->also) {
		struct tensor *tensor;
		enum there there = look(first, wanted, &tensor);
		tensor_free(tensor);
		if (there == NOT_THERE)
			return false;
		under_way |= there == ON_ITS_WAY;
	}
	return under_way;
}

static void take(struct wanted *first)
{
	struct wanted *wanted;
	bool all = true;
	for (wanted = first; wanted && all; wanted = wanted->also)
		all = look(first, wanted, &wanted->task.same) == THERE;
	for (wanted = first; wanted && !all; wanted = wanted->also) {
		tensor_free(wanted->task.same);
		wanted->task.same = NULL;
	}
}

static void forget_if_unused(struct supply *supply, struct same *same)
{
	if (!LIST_EMPTY(&same->places))
		return;
	HASH_DELETE(hash, supply->same, same);
	free(same);
}

static struct same *get(struct supply *supply, const struct same_key *key)
{
	struct same *same = find(supply, key);
	if (same || !(same = calloc(1, sizeof(*same))))
		return same;
	same->key = *key;
	LIST_INIT(&same->places);
	HASH_ADD(hash, supply->same, key, sizeof(same->key), same);
	if (same->hash.tbl)
		return same;
	free(same);
	return NULL;
}

/* Adds the sample to the places of its image. If memory is short, the sample is not added, and
 * other datasets decode the image again. */
static void note(const struct wanted *first, const struct wanted *wanted)
{
	struct supply *supply = wanted->key.space->source->supply;
	const struct same_key key = key_of(first, wanted);
	struct same *same = get(supply, &key);
	struct same_place *place = same ? calloc(1, sizeof(*place)) : NULL;
	if (place) {
		place->key = wanted->key;
		place->same = same;
		HASH_ADD(hash, supply->same_places, key, sizeof(place->key), place);
		if (place->hash.tbl)
			LIST_INSERT_HEAD(&same->places, place, link);
		else
			free(place);
	}
	if (same)
		forget_if_unused(supply, same);
}

void same_begin(struct wanted *first)
{
	if (!is_identified(first))
		return;
	take(first);
	for (const struct wanted *wanted = first; wanted; wanted = wanted->also)
		note(first, wanted);
}

void same_gone(struct space *space, sample_id sample)
{
	struct supply *supply = space->source->supply;
	const struct wanted_key key = {space, sample};
	struct same_place *place;
	HASH_FIND(hash, supply->same_places, &key, sizeof(key), place);
	if (!place)
		return;
	struct same *same = place->same;
	LIST_REMOVE(place, link);
	HASH_DELETE(hash, supply->same_places, place);
	free(place);
	forget_if_unused(supply, same);
}

void same_validate(const struct supply *supply)
{
	size_t n = 0;
	for (const struct same *same = supply->same; same; same = same->hash.next) {
		const struct same_place *place;
		ensure(!LIST_EMPTY(&same->places));
		LIST_FOREACH (place, &same->places, link) {
			ensure(cache_state(place->key.space->cache,
				       (sample_id)place->key.sample) != CACHE_ABSENT);
			n++;
		}
	}
	ensure(n == HASH_CNT(hash, supply->same_places));
}

void same_free(struct supply *supply)
{
	struct same_place *place, *next_place;
	struct same *same, *next;
	HASH_ITER (hash, supply->same_places, place, next_place) {
		HASH_DELETE(hash, supply->same_places, place);
		free(place);
	}
	HASH_ITER (hash, supply->same, same, next) {
		HASH_DELETE(hash, supply->same, same);
		free(same);
	}
}
