// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "effort.h"
#include "tier/policy.h"

#include <criterion/criterion.h>
#include <string.h>

/*
 * A tier, and jobs that read epochs in random orders without a cache: which samples are found in
 * the tier, and which are fetched. Each property must reject LRU, the mutant.
 */

#define SAMPLES 800
#define MOST_JOBS 4
#define ROOM 100

enum policy { TIER, LRU };

struct job {
	uint32_t dataset;
	sample_id order[SAMPLES];
	bool read[SAMPLES]; /* read in the running epoch */
	uint32_t next;
	bool reads;
};

struct world {
	enum policy policy;
	struct rng rng;
	struct tier_policy tier;
	uint64_t capacity, used;
	uint64_t last_used[2][SAMPLES], clock; /* for LRU; 0: not in the tier */
	struct job jobs[MOST_JOBS];
	unsigned n_jobs;
	unsigned hits, fetches;
	unsigned fetched[2][SAMPLES];
};

static void begin_epoch(struct world *world, struct job *job)
{
	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint32_t k = (uint32_t)rng_below(&world->rng, i + 1);
		job->order[i] = job->order[k];
		job->order[k] = i;
	}
	memset(job->read, 0, sizeof(job->read));
	job->next = 0;
	job->reads = true;
}

static struct world *world_new(
	enum policy policy, unsigned n_jobs, uint64_t percent, uint64_t seed)
{
	struct world *world = calloc(1, sizeof(*world));
	cr_assert_not_null(world);
	world->policy = policy;
	world->n_jobs = n_jobs;
	world->capacity = SAMPLES * percent / 100 * ROOM;
	rng_seed(&world->rng, seed);
	world->tier = (struct tier_policy){.capacity = world->capacity};
	return world;
}

static void world_free(struct world *world)
{
	tier_policy_free(&world->tier);
	free(world);
}

/* --- the tier --------------------------------------------------------------------------- */

static uint32_t worth_of(const struct world *world, uint32_t dataset, sample_id sample)
{
	uint32_t need = 0;
	bool has = false;
	for (unsigned i = 0; i < world->n_jobs; i++) {
		const struct job *job = &world->jobs[i];
		if (job->dataset != dataset || !job->reads)
			continue;
		has = true;
		need += !job->read[sample];
	}
	return has + need;
}

static void make_some_room(struct world *world, uint32_t worth)
{
	struct tier_entry entries[TIER_LOOK];
	uint32_t worths[TIER_LOOK];
	size_t n = tier_policy_look(&world->tier, entries);
	for (size_t i = 0; i < n; i++)
		worths[i] = worth_of(world, entries[i].dataset, entries[i].id);
	n = tier_policy_choose(
		entries, worths, n, worth, tier_policy_lacks(&world->tier, ROOM));
	for (size_t i = 0; i < n; i++)
		cr_assert(tier_policy_remove(
			&world->tier, entries[i].dataset, entries[i].id));
}

static void offer(struct world *world, uint32_t dataset, sample_id sample)
{
	uint32_t worth = worth_of(world, dataset, sample);
	struct tier_entry entry = {.dataset = dataset, .id = sample, .room = ROOM};
	for (unsigned i = 0; i < TIER_LOOKS && tier_policy_lacks(&world->tier, ROOM) > 0;
		i++)
		make_some_room(world, tier_policy_limit(i, worth));
	if (tier_policy_lacks(&world->tier, ROOM) == 0)
		cr_assert_eq(0, tier_policy_add(&world->tier, &entry));
	cr_assert_leq(world->tier.used, world->capacity);
}

static void offer_to_lru(struct world *world, uint32_t dataset, sample_id sample)
{
	uint64_t *oldest = NULL;
	uint64_t *all = &world->last_used[0][0];
	for (size_t i = 0; i < 2 * (size_t)SAMPLES && world->used >= world->capacity; i++)
		if (all[i] > 0 && (!oldest || all[i] < *oldest))
			oldest = &all[i];
	if (oldest)
		*oldest = 0;
	else
		world->used += ROOM;
	world->last_used[dataset][sample] = ++world->clock;
}

static bool is_there(const struct world *world, uint32_t dataset, sample_id sample)
{
	return world->policy == LRU
		       ? world->last_used[dataset][sample] > 0
		       : tier_policy_find(&world->tier, dataset, sample) != NULL;
}

static void read_one(struct world *world, struct job *job)
{
	sample_id sample = job->order[job->next++];
	job->read[sample] = true;
	if (is_there(world, job->dataset, sample)) {
		world->hits++;
		world->last_used[job->dataset][sample] = ++world->clock;
		return;
	}
	world->fetches++;
	world->fetched[job->dataset][sample]++;
	if (world->policy == LRU)
		offer_to_lru(world, job->dataset, sample);
	else
		offer(world, job->dataset, sample);
}

/* All jobs read an epoch, in random turns. */
static void read_epoch(struct world *world)
{
	unsigned left = world->n_jobs * SAMPLES;
	world->hits = world->fetches = 0;
	memset(world->fetched, 0, sizeof(world->fetched));
	for (unsigned i = 0; i < world->n_jobs; i++)
		begin_epoch(world, &world->jobs[i]);
	while (left > 0) {
		struct job *job = &world->jobs[rng_below(&world->rng, world->n_jobs)];
		if (job->next == SAMPLES)
			continue;
		read_one(world, job);
		left--;
	}
	tier_policy_validate(&world->tier);
}

static unsigned most_fetched(const struct world *world)
{
	unsigned most = 0;
	for (size_t i = 0; i < SAMPLES; i++)
		if (world->fetched[0][i] > most)
			most = world->fetched[0][i];
	return most;
}

/* --- properties ------------------------------------------------------------------------- */

/* Returns the smallest part, in percent, that a later epoch finds in the tier. */
static double one_job_finds(enum policy policy, uint64_t percent, uint64_t seed)
{
	struct world *world = world_new(policy, 1, percent, seed);
	double least = 100;
	read_epoch(world);
	for (int epoch = 1; epoch < 5; epoch++) {
		read_epoch(world);
		double found = 100.0 * world->hits / SAMPLES;
		least = found < least ? found : least;
	}
	world_free(world);
	return least;
}

Test(tier_policy, one_job_finds_in_each_later_epoch_what_fits)
{
	for (uint64_t seed = 0; seed < effort(4, 100); seed++) {
		double found = one_job_finds(TIER, 25, seed);
		double lru = one_job_finds(LRU, 25, seed);
		cr_assert_geq(found, 25, "%.2f percent", found);
		cr_assert_lt(lru, 10, "LRU found %.2f percent", lru);
		cr_assert_geq(one_job_finds(TIER, 1, seed), 1);
		cr_assert_geq(one_job_finds(TIER, 90, seed), 90);
	}
}

/* At most half of the samples were read by one of two jobs and are needed by the other. */
Test(tier_policy, several_jobs_fetch_each_sample_once_where_what_they_need_fits)
{
	static const struct {
		unsigned jobs;
		uint64_t percent;
	} cases[] = {{2, 62}, {3, 85}, {4, 95}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (uint64_t seed = 0; seed < effort(3, 50); seed++) {
			struct world *world =
				world_new(TIER, cases[i].jobs, cases[i].percent, seed);
			struct world *lru =
				world_new(LRU, cases[i].jobs, cases[i].percent, seed);
			read_epoch(world);
			cr_expect_eq(1, most_fetched(world), "%u jobs: %u times",
				cases[i].jobs, most_fetched(world));
			cr_assert_eq(SAMPLES, world->fetches);
			read_epoch(lru);
			cr_expect_gt(
				lru->fetches, SAMPLES + SAMPLES / 50, "%u", lru->fetches);
			for (int epoch = 1; epoch < 4; epoch++) {
				read_epoch(world);
				cr_expect_lt(world->fetches, SAMPLES,
					"%u jobs, epoch %d: %u", cases[i].jobs, epoch,
					world->fetches);
			}
			world_free(world);
			world_free(lru);
		}
	}
}

/* Samples of jobs that have left give way to those of jobs that read. */
Test(tier_policy, what_nobody_reads_any_more_makes_room)
{
	struct world *world = world_new(TIER, 1, 25, 1);
	read_epoch(world);
	cr_assert_eq(SAMPLES / 4, world->tier.n);
	world->jobs[0].dataset = 1;
	for (int epoch = 0; epoch < 3; epoch++)
		read_epoch(world);
	cr_assert_geq(world->hits, SAMPLES / 4, "%u", world->hits);
	world_free(world);
}

Test(tier_policy, a_job_that_comes_later_takes_no_room_of_the_others)
{
	struct world *world = world_new(TIER, 2, 25, 1);
	world->n_jobs = 1;
	read_epoch(world);
	read_epoch(world);
	cr_assert_eq(SAMPLES / 4, world->hits);
	world->n_jobs = 2;
	for (int epoch = 0; epoch < 3; epoch++) {
		read_epoch(world);
		cr_assert_geq(world->hits, 2 * SAMPLES / 4, "%u", world->hits);
	}
	world_free(world);
}

/* --- the index, compared with an array -------------------------------------------------- */

Test(tier_policy, finds_what_was_added_and_not_removed)
{
	static bool there[4][500];
	struct tier_policy policy = {.capacity = 1000};
	struct rng rng;
	uint64_t used = 0;
	rng_seed(&rng, 3);
	for (int i = 0; i < 50000; i++) {
		uint32_t dataset = (uint32_t)rng_below(&rng, 4);
		sample_id id = (sample_id)rng_below(&rng, 500);
		struct tier_entry entry = {.dataset = dataset,
			.id = id,
			.identity = id + 7,
			.room = 1 + id % 5};
		const struct tier_entry *found = tier_policy_find(&policy, dataset, id);
		cr_assert_eq(found != NULL, there[dataset][id]);
		cr_assert(!found || found->identity == id + 7);
		if (found)
			cr_assert(tier_policy_remove(&policy, dataset, id));
		else
			cr_assert_eq(0, tier_policy_add(&policy, &entry));
		cr_assert(!found || !tier_policy_remove(&policy, dataset, id));
		there[dataset][id] = !found;
		used += found ? -entry.room : entry.room;
		cr_assert_eq(used, policy.used);
		if (i % 1000 == 0)
			tier_policy_validate(&policy);
	}
	tier_policy_free(&policy);
}

Test(tier_policy, chooses_those_of_least_worth_and_no_more_than_it_needs)
{
	struct tier_entry entries[5];
	uint32_t worths[5] = {3, 1, 2, 0, 1};
	for (uint32_t i = 0; i < 5; i++)
		entries[i] = (struct tier_entry){.id = i, .room = 10};
	cr_assert_eq(3, tier_policy_choose(entries, worths, 5, 2, 1000));
	cr_assert_eq(3, entries[0].id, "worth nothing");
	cr_assert_eq(1, worths[1]);
	cr_assert_eq(1, worths[2]);
	cr_assert_eq(1, tier_policy_choose(entries, worths, 5, 9, 10));
	cr_assert_eq(2, tier_policy_choose(entries, worths, 5, 9, 11));
	cr_assert_eq(0, tier_policy_choose(entries, worths, 5, 0, 11));
}
