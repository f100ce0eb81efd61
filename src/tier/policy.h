// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decides which samples a tier keeps, and which of them make room for another one.
 *
 * The caller knows the worth of a sample:
 *
 *     0      no job that reads has it
 *     1      a job that reads has it, and has read it in its running epoch
 *     1 + n  n running epochs still need it
 *
 * A newcomer takes free room, or the room of samples that are worth less than itself, the
 * least worth first. So the newcomers of an epoch, which their job has just read (1),
 * never take the place of samples that the job has yet to read (2), nor of each other.
 * LRU does both, and gets almost no hits when epochs are in random order. Here a job that
 * is alone gets as hits, in each later epoch, the samples that first filled the tier.
 * Samples that other jobs still need stay until these jobs have read them.
 *
 * Victims are found as in the CLOCK algorithm: a hand goes around over the entries, some
 * at a time.
 *
 *   Flow: tier_policy_find; tier_policy_lacks -> tier_policy_look -> the caller's worths ->
 *         tier_policy_choose -> tier_policy_remove -> tier_policy_add.
 *   Threads, locks, clock, files: none; the caller serialises.
 */

struct tier_entry {
	uint32_t dataset; /* the caller's number of the dataset */
	sample_id id;
	uint64_t identity; /* tells the source of the bytes, and its version */
	uint64_t room;	   /* bytes on the device */
};

#define TIER_LOOK 64  /* entries that are looked at together */
#define TIER_LOOKS 32 /* looks for one newcomer, before it is given up */

struct tier_policy;

must_check int tier_policy_new(uint64_t capacity, struct tier_policy **ret);
void tier_policy_free(struct tier_policy **policy);

/* Returns the entry of a sample, or NULL. Valid until the next change. */
const struct tier_entry *tier_policy_find(
	const struct tier_policy *policy, uint32_t dataset, sample_id id);
/* Adds an entry, whether there is room or not. The sample must not be there. -ENOMEM */
must_check int tier_policy_add(
	struct tier_policy *policy, const struct tier_entry *entry);
/* Removes the entry of a sample; false: it was not there. */
bool tier_policy_remove(struct tier_policy *policy, uint32_t dataset, sample_id id);
/* Takes room for files that are no entries: directories. */
void tier_policy_take(struct tier_policy *policy, uint64_t room);

/* Returns the number of bytes that have to be freed for an entry of this size; 0:
 * none. */
uint64_t tier_policy_lacks(const struct tier_policy *policy, uint64_t room);
uint64_t tier_policy_used(const struct tier_policy *policy);
size_t tier_policy_entries(const struct tier_policy *policy);

/* Moves the hand over the next entries, each once at most, and copies them. Returns how
 * many. */
size_t tier_policy_look(struct tier_policy *policy, struct tier_entry ret[TIER_LOOK]);
/* Returns the limit of the i-th look of TIER_LOOKS for a newcomer of this worth: entries
 * that are worth less than the limit may be evicted. The first half of the looks evicts
 * only entries that no running epoch needs. */
uint32_t tier_policy_limit(unsigned i, uint32_t worth);
/* Chooses, among the n entries, entries to evict for a newcomer that lacks so many bytes,
 * and moves them to the front. Returns how many. Their room may be too little. */
size_t tier_policy_choose(struct tier_entry *entries, uint32_t *worths, size_t n,
	uint32_t worth, uint64_t lacks);

/* Aborts when an invariant does not hold. For tests. */
void tier_policy_validate(const struct tier_policy *policy);
