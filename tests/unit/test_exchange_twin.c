// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include <criterion/criterion.h>

#include "effort.h"
#include "exchange_twin.h"

/*
 * Random events for the sampler and for a twin that starts from the same seed. Each decision must
 * be the same, and the sampler's candidates must equal a recount.
 */

#define STEPS 80
#define SEEDS effort(200, 600)

struct pair {
	struct ex_world real;
	struct ex_world twin;
	struct rng rng;
};

static mask random_set(struct rng *rng, const struct ex_world *world)
{
	mask other = world->job[rng_below(rng, EX_JOBS)].set;
	mask a = rng_next(rng);
	mask b = rng_next(rng);
	switch (rng_below(rng, 5)) {
	case 0:
		return 0xffff;
	case 1:
		return other;
	case 2:
		return other & a;
	case 3:
		return a & b & 0xfffff;
	default:
		return a & 0xffff;
	}
}

static void come_or_go(struct pair *pair, int j)
{
	const struct ex_job *job = &pair->real.job[j];
	mask set = random_set(&pair->rng, &pair->real);
	unsigned space = (unsigned)rng_below(&pair->rng, EX_SPACES);
	if (!job->here) {
		ex_join(&pair->real, j, set, space);
		ex_join(&pair->twin, j, set, space);
	} else if (!job->running) {
		mask r = rng_below(&pair->rng, 3) ? job->set : job->set & set;
		ex_begin(&pair->real, j, r);
		ex_begin(&pair->twin, j, r);
	} else if (!job->r || !rng_below(&pair->rng, 3)) {
		bool leaves = !rng_below(&pair->rng, 2);
		(leaves ? ex_leave : ex_end)(&pair->real, j);
		(leaves ? ex_leave : ex_end)(&pair->twin, j);
	}
}

static bool wanted(const struct ex_world *world, unsigned space, int id)
{
	bool wanted = false;
	for (int j = 0; j < EX_JOBS; j++)
		wanted |= world->job[j].here && world->job[j].space == space &&
			  world->job[j].set & ex_bit(id);
	return wanted;
}

/* Reports residency to the sampler, also repeatedly. */
static void report(struct pair *pair)
{
	unsigned space = (unsigned)rng_below(&pair->rng, EX_SPACES);
	int id = (int)rng_below(&pair->rng, 20);
	uint64_t kind = rng_below(&pair->rng, 4);
	if (kind == 0) {
		ex_evict_all(&pair->real);
		ex_evict_all(&pair->twin);
	} else if (kind == 1 && wanted(&pair->real, space, id)) {
		sampler_resident(pair->real.sampler, space, (sample_id)id);
		if (!(pair->real.resident[space] & ex_bit(id))) {
			ex_admit(&pair->real, space, id);
			ex_admit(&pair->twin, space, id);
		}
	} else {
		ex_evict(&pair->real, space, id);
		ex_evict(&pair->twin, space, id);
	}
}

static void read_label(struct pair *pair)
{
	int j = (int)rng_below(&pair->rng, EX_JOBS);
	uint32_t label = (uint32_t)rng_below(&pair->rng, 4);
	if (pair->real.labels && pair->real.job[j].running)
		cr_assert_eq(
			ex_read(&pair->real, j, label), ex_read(&pair->twin, j, label));
}

static void step(struct pair *pair)
{
	int a[EX_JOBS], b[EX_JOBS];
	uint64_t kind = rng_below(&pair->rng, 8);
	if (kind < 3)
		come_or_go(pair, (int)rng_below(&pair->rng, EX_JOBS));
	else if (kind == 3)
		report(pair);
	unsigned who = (unsigned)(rng_next(&pair->rng) | rng_next(&pair->rng));
	if (kind > 3) {
		ex_round(&pair->real, who, a);
		ex_round(&pair->twin, who, b);
		cr_assert_eq(memcmp(a, b, sizeof(a)), 0);
		read_label(pair);
	}
	sampler_validate(pair->real.sampler);
}

static void check_streams(const struct ex_world *world)
{
	for (int j = 0; j < EX_JOBS; j++) {
		const struct ex_job *job = &world->job[j];
		if (!job->running)
			continue;
		cr_assert_eq(sampler_remaining(world->sampler, job->stream),
			twin_size(job->r));
		for (int id = 0; id < 64; id++)
			cr_assert_eq(sampler_contains(
					     world->sampler, job->stream, (sample_id)id),
				(job->r & ex_bit(id)) != 0);
	}
}

static void compare(uint64_t seed, const uint32_t *labels)
{
	struct pair pair = {0};
	rng_seed(&pair.rng, seed);
	pair.real.labels = pair.twin.labels = labels;
	pair.real.slots = pair.twin.slots = 1 + (unsigned)rng_below(&pair.rng, 12);
	pair.real.policy = pair.twin.policy = (enum ex_policy)rng_below(&pair.rng, 2);
	ex_new(&pair.real, seed, true);
	ex_new(&pair.twin, seed, false);
	for (int i = 0; i < STEPS; i++) {
		if (pair.real.n_sets + 1 >= EX_SETS) {
			ex_clear(&pair.real);
			ex_clear(&pair.twin);
		}
		step(&pair);
		check_streams(&pair.real);
	}
	sampler_free(&pair.real.sampler);
}

/* Plays events as above, and calls sampler_settle now and then. */
static void run_by_steps(uint64_t seed, const uint32_t *labels)
{
	struct pair pair = {.real.by_steps = true, .real.labels = labels};
	rng_seed(&pair.rng, seed);
	pair.real.slots = 1 + (unsigned)rng_below(&pair.rng, 12);
	ex_new(&pair.real, seed, true);
	for (int i = 0; i < STEPS; i++) {
		int ret[EX_JOBS];
		int j = (int)rng_below(&pair.rng, EX_JOBS);
		if (pair.real.n_sets + 1 >= EX_SETS)
			ex_clear(&pair.real);
		pair.twin = pair.real; /* the twin must not use the sampler */
		pair.twin.sampler = NULL;
		if (rng_below(&pair.rng, 2))
			come_or_go(&pair, j);
		ex_round(&pair.real, (unsigned)rng_next(&pair.rng), ret);
		sampler_validate(pair.real.sampler);
		if (rng_below(&pair.rng, 4) == 0)
			while (!sampler_settle(pair.real.sampler, 1))
				sampler_validate(pair.real.sampler);
		check_streams(&pair.real);
	}
	sampler_free(&pair.real.sampler);
}

Test(exchange_twin, candidates_that_settle_by_steps_are_right_in_the_end)
{
	uint32_t labels[64];
	for (uint32_t id = 0; id < 64; id++)
		labels[id] = id % 3;
	for (uint64_t seed = 0, n = SEEDS; seed < n; seed++)
		run_by_steps(seed, seed % 2 ? labels : NULL);
}

Test(exchange_twin, decisions_are_the_twins)
{
	for (uint64_t seed = 0, n = SEEDS; seed < n; seed++)
		compare(seed, NULL);
}

Test(exchange_twin, decisions_are_the_twins_with_labels)
{
	uint32_t labels[64];
	for (uint32_t id = 0; id < 64; id++)
		labels[id] = id * 7 % 5 % 3;
	for (uint64_t seed = 0, n = SEEDS; seed < n; seed++)
		compare(seed, labels);
}
