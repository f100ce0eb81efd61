// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../../tools/sim/sim.h"
#include "../../tools/sim/sim_sampler.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* The simulation itself: jobs read the samples of the scenario at the right times. */

#define JOBS 4
#define EPOCHS 4
#define IDS 400

/* Reads as an observer sees them. */
struct seen {
	uint32_t reads[JOBS];
	uint32_t epochs[JOBS]; /* number of the last epoch, plus one */
	uint64_t first[JOBS];  /* in ticks */
	uint64_t last[JOBS];
	uint32_t times[JOBS][EPOCHS][IDS];
	uint32_t misses;
	bool in_order; /* positions count up */
};

static void see(void *context, const struct sim_read *read)
{
	static uint32_t next[JOBS];
	struct seen *seen = context;
	size_t job = read->job;
	cr_assert_lt(read->sample, IDS);
	cr_assert_lt(read->epoch, EPOCHS);
	if (seen->reads[job]++ == 0)
		seen->first[job] = read->tick;
	if (read->position == 0)
		next[job] = 0;
	seen->in_order &= read->position == next[job]++;
	seen->last[job] = read->tick;
	seen->epochs[job] = read->epoch + 1;
	seen->times[job][read->epoch][read->sample]++;
	seen->misses += read->miss;
}

static struct sim_result run(const char *text, enum sampler_kind sampler, double cache,
	uint64_t seed, struct seen *seen)
{
	struct sim_scenario scenario;
	struct sim_result result;
	*seen = (struct seen){.in_order = true};
	cr_assert_eq(sim_parse("test", text, &scenario), 0);
	cr_assert_eq(sim_check(&scenario), 0);
	struct sim_setup setup = {.sampler = sampler,
		.cache = {.value = cache, .fraction = cache < 1},
		.seed = seed,
		.observer = see,
		.context = seen};
	cr_assert_eq(sim_run(&scenario, &setup, &result), 0);
	sim_scenario_free(&scenario);
	return result;
}

#define HEAD "[scenario]\ntitle = test\ncache = 1\n"

static const char unlike[] =
	HEAD "[dataset a]\nids = sample(400,300)\n"
	     "[dataset b]\nids = 100-349\n"
	     "[job a]\ndataset = a\nepochs = 3\n"
	     "[job b]\ndataset = b\nspeed = .5\nstart = 0.5\nepochs = 2\n";

static void check_epochs(
	const struct seen *seen, size_t job, uint32_t epochs, uint32_t size)
{
	cr_assert_eq(seen->epochs[job], epochs);
	cr_assert_eq(seen->reads[job], epochs * size);
	for (uint32_t epoch = 0; epoch < epochs; epoch++)
		for (uint32_t id = 0; id < IDS; id++)
			cr_assert_leq(seen->times[job][epoch][id], 1);
}

static void check_each_once(const char *text)
{
	static const enum sampler_kind kinds[] = {
		SAMPLER_DSA, SAMPLER_ISA, SAMPLER_EXCHANGE, SAMPLER_DSA_TREE};
	static struct seen seen;
	for (int i = 0; i < 4; i++) {
		struct sim_result result = run(text, kinds[i], 20, 1, &seen);
		check_epochs(&seen, 0, 3, 300);
		check_epochs(&seen, 1, 2, 250);
		cr_assert(seen.in_order);
		cr_assert_eq(result.served, 3 * 300 + 2 * 250);
		cr_assert_eq(result.misses, seen.misses);
	}
}

Test(sim_run, each_epoch_reads_each_sample_once)
{
	check_each_once(unlike);
}

Test(sim_run, with_look_ahead_too)
{
	char text[1024];
	snprintf(text, sizeof(text), "[scenario]\nlookahead = 16\n%s", unlike + 11);
	check_each_once(text);
}

/* An epoch of time has 300 ticks. Job b begins after 150 ticks, and reads in every other one. */
Test(sim_run, jobs_begin_when_they_should_and_read_at_their_speed)
{
	static struct seen seen;
	run(unlike, SAMPLER_DSA, 20, 1, &seen);
	cr_assert_eq(seen.first[0], 0);
	cr_assert_eq(seen.last[0], 3 * 300 - 1);
	cr_assert_eq(seen.first[1], 150);
	cr_assert_eq(seen.last[1], 150 + 2 * (2 * 250 - 1));
}

Test(sim_run, a_cache_for_all_loads_each_sample_once)
{
	static struct seen seen;
	struct sim_result result = run(unlike, SAMPLER_ISA, IDS, 1, &seen);
	cr_assert_eq(result.misses, result.all);
	cr_assert_geq(result.all, 300);
}

Test(sim_run, equal_jobs_share_everything_with_one_slot)
{
	static struct seen seen;
	struct sim_result result = run(HEAD
		"[dataset a]\nids = 0-99\n[job a]\ndataset = a\n[job b]\ndataset = a\n",
		SAMPLER_DSA, 1, 1, &seen);
	cr_assert_eq(result.capacity, 1);
	cr_assert_eq(result.misses, 100);
}

Test(sim_run, what_the_warm_up_reads_is_not_counted)
{
	static struct seen seen;
	struct sim_result result =
		run(HEAD "warmup = 1\nlength = 2\n[dataset a]\n"
			 "ids = 0-99\n[job a]\ndataset = a\nepochs = on\n",
			SAMPLER_ISA, 100, 1, &seen);
	cr_assert_eq(seen.reads[0], 300);
	cr_assert_eq(result.served, 200);
	cr_assert_eq(result.misses, 0); /* all samples were loaded before */
	cr_assert_eq(seen.misses, 100);
}

Test(sim_run, a_part_of_the_union_is_a_size_of_the_cache)
{
	static struct seen seen;
	struct sim_result result =
		run(HEAD "[dataset a]\nids = 0-99\n[dataset b]\nids = 50-199\n[job a]\n"
			 "dataset = a\n[job b]\ndataset = b\n",
			SAMPLER_ISA, .1, 1, &seen);
	cr_assert_eq(result.all, 200);
	cr_assert_eq(result.capacity, 20);
}

/* The script's opens determine the labels: each label comes as often as it has ids. */
Test(sim_run, scripts_that_shuffle_get_each_sample_once)
{
	static struct seen seen;
	run(HEAD
		"labels = 7\nsampler = exchange\n[dataset a]\nids = 0-299\n[job a]\n"
		"dataset = a\nepochs = 3\n[job b]\ndataset = a\nstart = .3\nepochs = 2\n",
		SAMPLER_EXCHANGE, 20, 1, &seen);
	check_epochs(&seen, 0, 3, 300);
	check_epochs(&seen, 1, 2, 300);
}

Test(sim_run, the_seed_decides)
{
	static struct seen a, b, other;
	run(unlike, SAMPLER_EXCHANGE, 20, 1, &a);
	run(unlike, SAMPLER_EXCHANGE, 20, 1, &b);
	run(unlike, SAMPLER_EXCHANGE, 20, 2, &other);
	cr_assert(!memcmp(&a, &b, sizeof(a)));
	cr_assert(memcmp(&a, &other, sizeof(a)));
}
