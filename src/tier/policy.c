// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "tier/policy.h"
#include "base/ensure.h"
#include "base/rng.h"

#include <errno.h>

#define FREE UINT32_MAX

void tier_policy_free(struct tier_policy *policy)
{
	free(policy->entries);
	free(policy->slots);
}

static size_t home_of(const struct tier_policy *policy, uint32_t dataset, sample_id id)
{
	return rng_mix(dataset, id) & policy->mask;
}

/* Returns the index in `slots` of the sample's entry. If the sample has no entry, returns the index
 * of the free element for a new entry. `slots` must not be NULL. */
static size_t slot_of(const struct tier_policy *policy, uint32_t dataset, sample_id id)
{
	size_t slot = home_of(policy, dataset, id);
	for (;; slot = (slot + 1) & policy->mask) {
		uint32_t at = policy->slots[slot];
		if (at == FREE || (policy->entries[at].id == id &&
					  policy->entries[at].dataset == dataset))
			return slot;
	}
}

const struct tier_entry *tier_policy_find(
	const struct tier_policy *policy, uint32_t dataset, sample_id id)
{
	if (policy->n == 0)
		return NULL;
	uint32_t at = policy->slots[slot_of(policy, dataset, id)];
	return at == FREE ? NULL : &policy->entries[at];
}

static void file_entry(struct tier_policy *policy, uint32_t at)
{
	const struct tier_entry *entry = &policy->entries[at];
	policy->slots[slot_of(policy, entry->dataset, entry->id)] = at;
}

static int grow(struct tier_policy *policy)
{
	size_t n = policy->n_max ? 2 * policy->n_max : 64;
	struct tier_entry *entries = reallocarray(policy->entries, n, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	policy->entries = entries;
	uint32_t *slots = reallocarray(NULL, 2 * n, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(policy->slots);
	policy->slots = slots;
	policy->mask = 2 * n - 1;
	policy->n_max = n;
	for (size_t slot = 0; slot < 2 * n; slot++)
		slots[slot] = FREE;
	for (size_t at = 0; at < policy->n; at++)
		file_entry(policy, (uint32_t)at);
	return 0;
}

int tier_policy_add(struct tier_policy *policy, const struct tier_entry *entry)
{
	ensure(!tier_policy_find(policy, entry->dataset, entry->id));
	if (policy->n == policy->n_max && grow(policy) != 0)
		return -ENOMEM;
	policy->entries[policy->n] = *entry;
	file_entry(policy, (uint32_t)policy->n++);
	policy->used += entry->room;
	return 0;
}

/* Frees an element of `slots`. A search stops at a free element, so it would miss some of the
 * elements behind this one. These elements move up. */
static void free_slot(struct tier_policy *policy, size_t slot)
{
	size_t next = slot;
	for (;;) {
		next = (next + 1) & policy->mask;
		uint32_t at = policy->slots[next];
		if (at == FREE)
			break;
		const struct tier_entry *entry = &policy->entries[at];
		size_t home = home_of(policy, entry->dataset, entry->id);
		if (((next - home) & policy->mask) < ((next - slot) & policy->mask))
			continue;
		policy->slots[slot] = at;
		slot = next;
	}
	policy->slots[slot] = FREE;
}

bool tier_policy_remove(struct tier_policy *policy, uint32_t dataset, sample_id id)
{
	if (!tier_policy_find(policy, dataset, id))
		return false;
	size_t slot = slot_of(policy, dataset, id);
	uint32_t at = policy->slots[slot], last = (uint32_t)policy->n - 1;
	policy->used -= policy->entries[at].room;
	free_slot(policy, slot);
	if (at != last) {
		policy->entries[at] = policy->entries[last];
		file_entry(policy, at);
	}
	policy->n--;
	return true;
}

uint64_t tier_policy_lacks(const struct tier_policy *policy, uint64_t room)
{
	uint64_t wanted = policy->used + room;
	return wanted > policy->capacity ? wanted - policy->capacity : 0;
}

size_t tier_policy_look(struct tier_policy *policy, struct tier_entry ret[TIER_LOOK])
{
	size_t n = policy->n < TIER_LOOK ? policy->n : TIER_LOOK;
	for (size_t i = 0; i < n; i++, policy->hand++) {
		if (policy->hand >= policy->n)
			policy->hand = 0;
		ret[i] = policy->entries[policy->hand];
	}
	return n;
}

uint32_t tier_policy_limit(unsigned i, uint32_t worth)
{
	return worth > 2 && i < TIER_LOOKS / 2 ? 2 : worth;
}

/* Swaps entries[from] with the entry of least worth in entries[from ... n). */
static void bring_least(
	struct tier_entry *entries, uint32_t *worths, size_t from, size_t n)
{
	size_t least = from;
	for (size_t i = from + 1; i < n; i++)
		if (worths[i] < worths[least])
			least = i;
	struct tier_entry entry = entries[from];
	uint32_t worth = worths[from];
	entries[from] = entries[least];
	worths[from] = worths[least];
	entries[least] = entry;
	worths[least] = worth;
}

size_t tier_policy_choose(struct tier_entry *entries, uint32_t *worths, size_t n,
	uint32_t worth, uint64_t lacks)
{
	uint64_t room = 0;
	size_t chosen = 0;
	for (; chosen < n && room < lacks; chosen++) {
		bring_least(entries, worths, chosen, n);
		if (worths[chosen] >= worth)
			break;
		room += entries[chosen].room;
	}
	return chosen;
}

void tier_policy_validate(const struct tier_policy *policy)
{
	uint64_t room = 0;
	size_t n = 0;
	for (size_t slot = 0; policy->slots && slot <= policy->mask; slot++)
		n += policy->slots[slot] != FREE;
	ensure(n == policy->n && policy->n <= policy->n_max);
	for (size_t at = 0; at < policy->n; at++) {
		const struct tier_entry *entry = &policy->entries[at];
		ensure(tier_policy_find(policy, entry->dataset, entry->id) == entry);
		room += entry->room;
	}
	ensure(room <= policy->used);
}
