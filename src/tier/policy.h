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
 * The caller tells the worth of a sample:
 *
 *     0      no job that is being read has the sample
 *     1      jobs that are being read have it, but no running epoch still needs it
 *     1 + n  n running epochs still need it
 *
 * A new sample takes free room, or the room of samples that are worth less; those of least worth
 * are removed first. So a sample that was just read (worth 1) replaces neither a sample that its
 * job has yet to read (worth 2), nor another sample that was just read. LRU would replace both, and
 * therefore gets almost no hits if epochs are in random order. With this rule, a single job gets
 * hits in each later epoch for the samples that first filled the tier. A sample that other jobs
 * still need stays until these jobs have read it.
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
	/* hash of the source of the bytes and its version (tier_identity) */
	uint64_t identity;
	uint64_t room; /* bytes that the file takes on the device */
};

#define TIER_LOOK 64 /* number of entries that one look examines */
/* most looks for the room of a new sample, which is then not kept */
#define TIER_LOOKS 32

struct tier_policy;

must_check int tier_policy_new(uint64_t capacity, struct tier_policy **ret);
void tier_policy_free(struct tier_policy **policy);

/* Returns the entry of a sample, or NULL. The entry is valid until the next call that adds or
 * removes one. */
const struct tier_entry *tier_policy_find(
	const struct tier_policy *policy, uint32_t dataset, sample_id id);
/* Adds an entry, even if there is no room. The sample must have no entry. -ENOMEM */
must_check int tier_policy_add(
	struct tier_policy *policy, const struct tier_entry *entry);
/* Removes the entry of a sample. Returns false if it has none. */
bool tier_policy_remove(struct tier_policy *policy, uint32_t dataset, sample_id id);
/* Counts `room` bytes as used by files that are not entries, such as directories. */
void tier_policy_take(struct tier_policy *policy, uint64_t room);

/* Returns the number of bytes that must be freed before an entry of `room` bytes can be added; 0:
 * none. */
uint64_t tier_policy_lacks(const struct tier_policy *policy, uint64_t room);
uint64_t tier_policy_used(const struct tier_policy *policy);
size_t tier_policy_entries(const struct tier_policy *policy);

/* Moves the hand over the next entries, at most TIER_LOOK and each at most once, and copies them to
 * `ret`. Returns their number. */
size_t tier_policy_look(struct tier_policy *policy, struct tier_entry ret[TIER_LOOK]);
/* Returns the worth below which entries may be evicted in look number i (from 0) for a new sample
 * of this worth. In the first half of TIER_LOOKS, only entries that no running epoch needs. */
uint32_t tier_policy_limit(unsigned i, uint32_t worth);
/* Chooses which of the n entries to evict, and moves them to the front. Returns the number of
 * chosen entries. worths: the worth of each entry; moved together with the entries. worth: entries
 * of less worth may be evicted (tier_policy_limit). lacks: number of bytes to free; the chosen
 * entries may have fewer. */
size_t tier_policy_choose(struct tier_entry *entries, uint32_t *worths, size_t n,
	uint32_t worth, uint64_t lacks);

/* Aborts when an invariant does not hold. For tests. */
void tier_policy_validate(const struct tier_policy *policy);
