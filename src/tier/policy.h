// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decides which samples a tier keeps, and which samples make room for a new sample.
 *
 * The caller tells the worth of a sample:
 *
 *     0      no job that is being read has the sample
 *     1      such a job has the sample, but no running epoch has yet to read it
 *     1 + n  n running epochs have yet to read the sample
 *
 * A new sample takes free room, or replaces samples that are worth less, beginning with the sample
 * of least worth. So a sample that a job has just read (worth 1) does not replace a sample that the
 * job has yet to read (worth 2), or has read earlier (worth 1). LRU would replace both, and would
 * get almost no hits if epochs are in random order. Here the samples that first fill the tier stay,
 * and a single job finds them in each later epoch.
 *
 * Samples to remove are found as in the CLOCK algorithm: a hand moves over the entries in a circle,
 * and each look examines the next few.
 *
 *   Flow: tier_policy_find; tier_policy_lacks -> tier_policy_look -> the caller's worths ->
 *         tier_policy_choose -> tier_policy_remove -> tier_policy_add.
 *   Threads, locks, clock, files: none; the caller serialises.
 */

struct tier_entry {
	uint32_t dataset; /* number by which the caller identifies the dataset */
	sample_id id;
	/* hash of a file's name, its version, and the sample's offset in it (tier_identity) */
	uint64_t identity;
	uint64_t room; /* bytes that the sample's file takes on the disk */
};

#define TIER_LOOK 64 /* number of entries that one look examines */
/* largest number of looks for one new sample; if they free too little room, the tier refuses the
 * sample */
#define TIER_LOOKS 32

/* Entries are in an array without gaps. A hash table with linear probing finds them. All fields but
 * `capacity` begin as zeros. The caller reads `used` and `n`; it may add to `used` the bytes of
 * files that are not entries, such as directories. */
struct tier_policy {
	uint64_t capacity, used;
	struct tier_entry *entries;
	size_t n, n_max;
	size_t hand;
	/* hash table: each element is an index in `entries`, or UINT32_MAX */
	uint32_t *slots;
	size_t mask; /* size of the hash table, a power of two, minus 1 */
};

void tier_policy_free(struct tier_policy *policy);

/* Returns the sample's entry, or NULL if the tier does not have the sample. The entry is valid
 * until the next call that adds or removes an entry. */
const struct tier_entry *tier_policy_find(
	const struct tier_policy *policy, uint32_t dataset, sample_id id);
/* Adds an entry, even beyond the capacity. The sample must have no entry yet. 0 or -ENOMEM. */
must_check int tier_policy_add(
	struct tier_policy *policy, const struct tier_entry *entry);
bool tier_policy_remove(struct tier_policy *policy, uint32_t dataset, sample_id id);

/* Returns the bytes that must be freed before an entry of `room` bytes can be added. */
uint64_t tier_policy_lacks(const struct tier_policy *policy, uint64_t room);

/* Copies the next entries, from the hand on, and moves the hand behind them. Returns the number of
 * copied entries: TIER_LOOK or, if the tier has fewer entries, all. */
size_t tier_policy_look(struct tier_policy *policy, struct tier_entry ret[TIER_LOOK]);
/* Returns a limit for look i (from 0): to make room for a sample of this worth, the look may evict
 * entries worth less than the limit. In the first half of the TIER_LOOKS looks the limit is at most
 * 2, so that entries which running epochs need are evicted only if the others do not suffice. */
uint32_t tier_policy_limit(unsigned i, uint32_t worth);
/* Chooses entries that are worth less than `worth`, beginning with the entries of least worth,
 * until the chosen entries take `lacks` bytes together. Moves them, and their worths, to the front
 * of the two arrays. Returns the number of chosen entries. */
size_t tier_policy_choose(struct tier_entry *entries, uint32_t *worths, size_t n,
	uint32_t worth, uint64_t lacks);

void tier_policy_validate(const struct tier_policy *policy);
