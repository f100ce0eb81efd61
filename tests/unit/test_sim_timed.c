// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../../tools/sim/sim_sched.h"
#include "../../tools/sim/timed.h"

#include <criterion/criterion.h>
#include <math.h>

/* Jobs with a clock. Each result that is known without a simulation is compared. */

#define SAMPLES 500
#define BYTES 1000.

static struct timed_job jobs[3];
static struct timed_part parts[2];

static struct timed_world world_of(size_t n)
{
	for (size_t i = 0; i < n; i++)
		jobs[i] = (struct timed_job){.readers = 2,
			.think = .004,
			.cpu = 1e-6,
			.read = .0001,
			.decode = .001,
			.bytes = BYTES,
			.most_reads = 8};
	parts[0] =
		(struct timed_part){.jobs = (UINT64_C(1) << n) - 1, .samples = SAMPLES};
	return (struct timed_world){.jobs = jobs,
		.n_jobs = n,
		.parts = parts,
		.n_parts = 1,
		.sampler = SAMPLER_DSA,
		.eviction = EVICTION_REFCNT,
		.share = SHARE_FIFO,
		.lookahead = 64,
		.cache = BYTES * SAMPLES / 20,
		.workers = 2,
		.cpus = 8,
		.seed = 1,
		.laps = 4};
}

static double epoch_of(const struct timed_world *world, size_t job, double *ret_loads)
{
	struct timed_outcome outcomes[TIMED_JOBS];
	double loads;
	cr_assert_eq(timed_run(world, outcomes, ret_loads ? ret_loads : &loads), 0);
	return outcomes[job].epoch;
}

static void near(double is, double expected, double percent)
{
	cr_assert(fabs(is / expected - 1) <= percent / 100, "%f, expected %f", is,
		expected);
}

Test(sim_timed, readers_that_have_enough_take_what_they_think)
{
	struct timed_world world = world_of(1);
	near(epoch_of(&world, 0, NULL), SAMPLES * .004 / 2, 2);
}

Test(sim_timed, decoders_are_the_limit)
{
	struct timed_world world = world_of(1);
	jobs[0].decode = .006;
	near(epoch_of(&world, 0, NULL), SAMPLES * .006 / 2, 6);
	world.workers = 3;
	near(epoch_of(&world, 0, NULL), SAMPLES * .006 / 3, 10);
}

Test(sim_timed, one_more_decoder_does_not_help_without_a_processor)
{
	struct timed_world world = world_of(1);
	jobs[0].decode = .006;
	world.cpus = 2;
	double two = epoch_of(&world, 0, NULL);
	world.workers = 3;
	near(epoch_of(&world, 0, NULL), two, 3);
}

Test(sim_timed, what_is_cached_is_not_decoded)
{
	struct timed_world world = world_of(1);
	jobs[0].decode = .02;
	double loads, small = epoch_of(&world, 0, NULL);
	world.cache = BYTES * SAMPLES;
	near(epoch_of(&world, 0, &loads), SAMPLES * .004 / 2, 2);
	near(loads, 1. / 4, 1); /* only in the first of four epochs */
	cr_assert_gt(small, 3 * SAMPLES * .004 / 2);
}

Test(sim_timed, the_storage_is_the_limit)
{
	struct timed_world world = world_of(1);
	jobs[0].read = .02;
	world.reads = 4;
	near(epoch_of(&world, 0, NULL), SAMPLES * .02 / 4, 6);
	world.reads = 2;
	near(epoch_of(&world, 0, NULL), SAMPLES * .02 / 2, 6);
}

Test(sim_timed, jobs_that_begin_together_share_all)
{
	struct timed_world world = world_of(2);
	double loads;
	jobs[0].decode = jobs[1].decode = .006;
	double both = epoch_of(&world, 0, &loads);
	near(loads, .5, 3);
	near(both, SAMPLES * .006 / 2, 5);
}

Test(sim_timed, jobs_of_nothing_in_common_share_nothing)
{
	struct timed_world world = world_of(2);
	double loads;
	jobs[0].decode = jobs[1].decode = .006;
	parts[0] = (struct timed_part){.jobs = 1, .samples = SAMPLES};
	parts[1] = (struct timed_part){.jobs = 2, .samples = SAMPLES};
	world.n_parts = 2;
	near(epoch_of(&world, 0, &loads), 2 * SAMPLES * .006 / 2, 8);
	cr_assert_gt(loads, .85); /* except samples in the cache */
}

Test(sim_timed, processors_are_shared)
{
	struct timed_world world = world_of(2);
	for (int i = 0; i < 2; i++)
		jobs[i].cpu = jobs[i].think;
	world.cache = BYTES * SAMPLES;
	world.cpus = 2; /* for four readers */
	near(epoch_of(&world, 0, NULL), 2 * SAMPLES * .004 / 2, 3);
}

Test(sim_timed, a_job_that_is_absent_reads_nothing)
{
	struct timed_world world = world_of(2);
	struct timed_outcome outcomes[TIMED_JOBS];
	double loads;
	jobs[1].absent = true;
	cr_assert_eq(timed_run(&world, outcomes, &loads), 0);
	cr_assert_eq(outcomes[1].laps, 0);
	cr_assert_gt(outcomes[0].laps, 2);
}

Test(sim_timed, scripts_that_shuffle_get_samples_of_their_labels)
{
	struct timed_world world = world_of(2);
	double loads;
	world.labels = 10;
	world.sampler = SAMPLER_EXCHANGE;
	jobs[1].start = 1;
	epoch_of(&world, 1, &loads);
	cr_assert_lt(loads, .75);
}

/* --- what a reader waited for once ------------------------------------------------------ */

#define FEW 8
#define HELD 6 /* more than the cache holds */

static struct sim_sched *few;
static struct sim_sched_job *reader;
static roaring_bitmap_t *selection;

static void setup_few(void)
{
	struct sim_sched_config config = {.sampler = SAMPLER_DSA,
		.eviction = EVICTION_REFCNT,
		.capacity = 4,
		.sampler_seed = 1,
		.cache_seed = 2,
		.n_ids = FEW,
		.lookahead = 2,
		.timed = true,
		.share = SHARE_FIFO,
		.cost_ns = 1};
	selection = roaring_bitmap_from_range(0, FEW, 1);
	cr_assert_eq(sim_sched_new(&config, &few), 0);
	cr_assert_eq(sim_sched_join(few, 0, selection, NULL, &reader), 0);
}

static void teardown_few(void)
{
	sim_sched_free(&few);
	roaring_bitmap_free(selection);
}

/* Opens a sample, and waits for it while it is read, as with all look-ahead. */
static struct sim_open read_one(uint32_t epoch, uint32_t position)
{
	struct sim_open open = sim_open_of(reader, epoch, position), *pointer = &open;
	sample_id taken = SAMPLE_NONE;
	cr_assert_eq(sim_sched_open(few, &pointer, 1), 0);
	while (!sim_sched_has(few, open.request.sample)) {
		taken = sim_sched_take(few);
		cr_assert_eq(sim_sched_wait(&open), 0);
		if (taken != SAMPLE_NONE)
			cr_assert_eq(sim_sched_loaded(few, taken), 0);
	}
	return open;
}

Test(sim_timed, what_a_reader_waited_for_is_look_ahead_again_in_the_next_epoch,
	.init = setup_few, .fini = teardown_few)
{
	struct sim_open opens[HELD];
	for (uint32_t k = 0; k < FEW; k++) {
		struct sim_open open = read_one(0, k);
		cr_assert_eq(sim_sched_release(&open), 0);
	}
	for (uint32_t k = 0; k < HELD; k++)
		opens[k] = read_one(1, k);
	cr_assert_eq(sim_sched_take(few), SAMPLE_NONE); /* opens fill the cache */
	for (uint32_t k = 0; k < HELD; k++)
		cr_assert_eq(sim_sched_release(&opens[k]), 0);
	cr_assert_neq(sim_sched_take(few), SAMPLE_NONE);
}

/* --- several runs ------------------------------------------------------------------------ */

/* A slow storage and a small cache: samples that jobs don't draw together are read twice. */
static struct timed_world slow_world(unsigned part_cached)
{
	struct timed_world world = world_of(2);
	jobs[0].read = jobs[1].read = .0155;
	jobs[0].think = jobs[1].think = .0048;
	world.share = SHARE_SLOWDOWN;
	world.lookahead = 128;
	world.reads = 4;
	world.cache = BYTES * SAMPLES / part_cached;
	return world;
}

static double width(const struct timed_outcome *outcome)
{
	return (outcome->most - outcome->least) / outcome->epoch;
}

Test(sim_timed, how_far_apart_jobs_begin_makes_a_range)
{
	struct timed_world world = slow_world(10);
	struct timed_outcome together[TIMED_JOBS], apart[TIMED_JOBS];
	double loads;
	cr_assert_eq(timed_runs(&world, together, &loads), 0);
	jobs[1].start = 1.5;
	cr_assert_eq(timed_runs(&world, apart, &loads), 0);
	cr_assert_lt(width(&together[1]), .1);
	cr_assert_gt(width(&apart[1]), .2);
	for (size_t j = 0; j < 2; j++) {
		cr_assert_leq(apart[j].least, apart[j].epoch);
		cr_assert_leq(apart[j].epoch, apart[j].most);
	}
}

/* Jobs that share stay together at any limit and any begin, with a cache of a fifth. */
Test(sim_timed, equal_jobs_share_what_a_slow_storage_gives)
{
	struct timed_world world = slow_world(5);
	struct timed_outcome outcomes[TIMED_JOBS];
	double loads;
	for (int i = 0; i < 4; i++) {
		jobs[1].start = i * .5;
		cr_assert_eq(timed_runs(&world, outcomes, &loads), 0);
		cr_assert_lt(loads, .55, "%f loads per sample read", loads);
		near(outcomes[1].epoch, outcomes[0].epoch, 5);
	}
}

Test(sim_timed, where_chance_decides_nothing_runs_are_alike)
{
	struct timed_world world = world_of(1);
	struct timed_outcome outcome[TIMED_JOBS];
	double loads;
	cr_assert_eq(timed_runs(&world, outcome, &loads), 0);
	near(outcome[0].epoch, epoch_of(&world, 0, NULL), .5);
	cr_assert_lt(width(&outcome[0]), .01);
}
