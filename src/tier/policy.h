// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decides which samples a tier keeps, and which ones it removes to make room for a new one.
 *
 * The caller knows the worth of a sample:
 *
 *     0      no job that is being read has it
 *     1      a job that is being read has it, and has read it in its running epoch
 *     1 + n  n running epochs still need it
 *
 * A new sample takes free room, or the room of samples that are worth less, the least worth first.
 * So a sample that was just read (worth 1) never replaces a sample that its job has yet to read
 * (worth 2), nor another one that was just read. LRU would replace both kinds, and so gets almost
 * no hits if epochs are in random order. Here a single job gets, in each later epoch, hits for the
 * samples that first filled the tier. Samples that other jobs still need stay until these jobs have
 * read them.
 *
 * Samples to remove are found as in the CLOCK algorithm: a hand moves around over the entries, some
 * at a time.
 *
 *   Flow: tier_policy_find; tier_policy_lacks -> tier_policy_look -> the caller's worths ->
 *         tier_policy_choose -> tier_policy_remove -> tier_policy_add.
 *   Threads, locks, clock, files: none; the caller serialises.
 */

struct tier_entry {
	uint32_t dataset; /* number that the caller gave the dataset */
	sample_id id;
	uint64_t identity; /* identifies the source of the bytes and its version */
	uint64_t room;	   /* bytes on the device */
};

#define TIER_LOOK 64  /* entries that one look examines */
#define TIER_LOOKS 32 /* looks for one new sample, after which it is given up */

struct tier_policy;

must_check int tier_policy_new(uint64_t capacity, struct tier_policy **ret);
void tier_policy_free(struct tier_policy **policy);

/* Returns the entry of a sample, or NULL. It is valid until the next change. */
const struct tier_entry *tier_policy_find(
	const struct tier_policy *policy, uint32_t dataset, sample_id id);
/* Adds an entry, even if there is no room. The sample must have no entry. -ENOMEM */
must_check int tier_policy_add(
	struct tier_policy *policy, const struct tier_entry *entry);
/* Removes the entry of a sample. false: there was none. */
bool tier_policy_remove(struct tier_policy *policy, uint32_t dataset, sample_id id);
/* Uses room for files that are not entries, such as directories. */
void tier_policy_take(struct tier_policy *policy, uint64_t room);

/* Returns the number of bytes that must be freed for an entry of this size; 0: none. */
uint64_t tier_policy_lacks(const struct tier_policy *policy, uint64_t room);
uint64_t tier_policy_used(const struct tier_policy *policy);
size_t tier_policy_entries(const struct tier_policy *policy);

/* Moves the hand over the next entries, each at most once, and copies them. Returns their
 * number. */
size_t tier_policy_look(struct tier_policy *policy, struct tier_entry ret[TIER_LOOK]);
/* Returns the limit for the i-th of TIER_LOOKS looks for a new sample of this worth: only entries
 * worth less than the limit may be evicted. The first half of the looks evicts only entries that no
 * running epoch needs. */
uint32_t tier_policy_limit(unsigned i, uint32_t worth);
/* Chooses which of the n entries to evict for a new sample that lacks this many bytes, and moves
 * them to the front. Returns their number. Their bytes together may be too few. */
size_t tier_policy_choose(struct tier_entry *entries, uint32_t *worths, size_t n,
	uint32_t worth, uint64_t lacks);

/* Aborts when an invariant does not hold. For tests. */
void tier_policy_validate(const struct tier_policy *policy);
