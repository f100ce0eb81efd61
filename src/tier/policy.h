// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which samples a tier has, and which of them leave it for another one.
 *
 * The worth of a sample, which the caller knows:
 *
 *     0      no job that reads has it
 *     1      a job that reads has it, and has read it in its running epoch
 *     1 + n  n running epochs still need it
 *
 * A newcomer takes free room, or that of samples that are worth less than itself, those of
 * the least worth first. So the newcomers of an epoch, which their job has just read (1),
 * never take the place of what the job has yet to read (2), nor of each other, as LRU does,
 * which finds next to nothing in random orders: a job alone finds what once filled the
 * tier in each later epoch. What other jobs still need stays until they have read it.
 *
 * Victims are looked for with a hand that goes around, some entries at a time.
 *
 *   Flow: tier_policy_find; tier_policy_lacks -> tier_policy_look -> the caller's worths ->
 *         tier_policy_choose -> tier_policy_remove -> tier_policy_add.
 *   Threads, locks, clock, files: none; the caller serialises.
 */

struct tier_entry {
	uint32_t dataset; /* the caller's number */
	sample_id id;
	uint64_t identity; /* what the bytes were read from, and which version of it */
	uint64_t room;	   /* bytes on the device */
};

#define TIER_LOOK 64  /* entries that are looked at together */
#define TIER_LOOKS 32 /* for one newcomer, before it is given up */

struct tier_policy;

must_check int tier_policy_new(uint64_t capacity, struct tier_policy **ret);
void tier_policy_free(struct tier_policy **policy);

/* NULL: it is not there. Valid until the next change. */
const struct tier_entry *tier_policy_find(
	const struct tier_policy *policy, uint32_t dataset, sample_id id);
/* Of a sample that is not there, whether there is room or not. -ENOMEM */
must_check int tier_policy_add(
	struct tier_policy *policy, const struct tier_entry *entry);
/* false: it is not there. */
bool tier_policy_remove(struct tier_policy *policy, uint32_t dataset, sample_id id);
/* So much of the room is taken by what is no entry: directories. */
void tier_policy_take(struct tier_policy *policy, uint64_t room);

/* So much room has to be made first; 0: none. */
uint64_t tier_policy_lacks(const struct tier_policy *policy, uint64_t room);
uint64_t tier_policy_used(const struct tier_policy *policy);
size_t tier_policy_entries(const struct tier_policy *policy);

/* The next entries, each once at most; how many. */
size_t tier_policy_look(struct tier_policy *policy, struct tier_entry ret[TIER_LOOK]);
/* For a newcomer of this worth: the i-th look of TIER_LOOKS takes what is worth less than
 * that. At first only what no running epoch needs. */
uint32_t tier_policy_limit(unsigned i, uint32_t worth);
/* Those of the n that leave for a newcomer that lacks so much room: how many, and they are
 * the first then. It may be too little room. */
size_t tier_policy_choose(struct tier_entry *entries, uint32_t *worths, size_t n,
	uint32_t worth, uint64_t lacks);

/* Aborts when an invariant does not hold. For tests. */
void tier_policy_validate(const struct tier_policy *policy);
