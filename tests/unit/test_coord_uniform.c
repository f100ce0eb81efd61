// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord_world.h"
#include "effort.h"
#include "sampler_twin.h"

/*
 * Orders stay uniform although leaders die in the middle of epochs and logs are repaired. The test
 * counts how often each sample is at each position.
 */

#define SAMPLES 8
#define EPOCHS effort(8000, 80000)

/* The mutant leader fills holes, or continues, with the smallest remaining samples. */
enum leader { HONEST_LEADER, SORTED_LEADER };

static uint64_t now_ns(void *context)
{
	return *(const uint64_t *)context;
}

struct group {
	uint64_t now_ns, incarnations;
	struct coord_local *local;
	struct coord *coord;
	struct coord_journal journal;
	uint32_t fed;
	roaring_bitmap_t *ids;
	struct rng rng;
};

static int fed(void *context, const char *job, uint32_t rank, uint32_t epoch,
	uint32_t base, const sample_id *ids, uint32_t n)
{
	struct group *group = context;
	journal_write(&group->journal, journal_job(job), rank, epoch, base, ids, n);
	group->fed += n;
	return 0;
}

static uint32_t known(void *context, const char *job)
{
	const struct group *group = context;
	return group->journal.known[journal_job(job)];
}

static uint32_t tail(void *context, struct coord_tail *at, sample_id *ids, uint32_t most)
{
	const struct group *group = context;
	return journal_tail(&group->journal, at, ids, most);
}

static void forget(void *context, const char *job, uint32_t rank, uint32_t epoch,
	uint32_t base, uint32_t n)
{
	(void)context, (void)job, (void)rank, (void)epoch, (void)base, (void)n;
	cr_assert_fail("nothing is given otherwise");
}

static void lead(struct group *group)
{
	struct coord_options options = {.self = {.name = "node",
						.incarnation = ++group->incarnations,
						.capacity = 1},
		.ttl_ns = 1000000000,
		.seed = rng_next(&group->rng),
		.mini_batches = 1,
		.calls = {.context = group,
			.fed = fed,
			.known = known,
			.tail = tail,
			.forget = forget}};
	struct coord_job job = {.name = "job0",
		.dataset = "photos",
		.ids = group->ids,
		.ranks = 1,
		.batch = 2,
		.kind = SAMPLER_DSA};
	cr_assert_eq(
		coord_new(&options, coord_local_engine(group->local), &group->coord), 0);
	cr_assert_eq(coord_add_job(group->coord, &job), 0);
	cr_assert_eq(coord_take_rank(group->coord, "job0", 0, 0, COORD_AT_CURSOR), 0);
	group->fed = 0;
}

static bool is_whole(const struct group *group)
{
	return group->journal.ids[0][0][0][SAMPLES - 1] != SAMPLE_NONE;
}

/* Makes a step. The reader consumes all samples that the journal has. */
static void step(struct group *group)
{
	struct coord_rank_status status;
	group->now_ns = coord_step(group->coord, group->now_ns);
	if (coord_rank_status(group->coord, "job0", 0, &status) == 0 && status.held &&
		status.epoch == 0)
		(void)coord_commit(group->coord, "job0", 0, 0, status.position);
}

static void until_fed(struct group *group, uint32_t n)
{
	for (unsigned i = 0; group->fed < n && !is_whole(group); i++) {
		cr_assert_lt(i, 10000);
		step(group);
	}
}

/* Reads an epoch in which the leader and the engine may die; the engine then forgets its log. */
static void epoch(struct group *group, sample_id order[SAMPLES])
{
	journal_clear(&group->journal);
	cr_assert_eq(coord_local_new(now_ns, &group->now_ns, true, &group->local), 0);
	lead(group);
	uint32_t deaths = (uint32_t)rng_below(&group->rng, 3);
	for (uint32_t i = 0; i < deaths; i++) {
		until_fed(group, 1 + (uint32_t)rng_below(&group->rng, 3));
		if (rng_below(&group->rng, 2)) {
			coord_leave(group->coord);
			coord_free(&group->coord);
		} else {
			coord_free(&group->coord);
			coord_local_free(&group->local);
			cr_assert_eq(coord_local_new(
					     now_ns, &group->now_ns, true, &group->local),
				0);
		}
		lead(group);
	}
	for (unsigned i = 0; group->journal.ids[0][0][0][SAMPLES - 1] == SAMPLE_NONE;
		i++) {
		cr_assert_lt(i, 10000);
		step(group);
	}
	memcpy(order, group->journal.ids[0][0][0], SAMPLES * sizeof(*order));
	coord_free(&group->coord);
	coord_local_free(&group->local);
}

/* Changes the order as the mutant would: after some position it ascends. */
static void mutate(struct group *group, sample_id order[SAMPLES])
{
	if (rng_below(&group->rng, 3))
		return;
	for (unsigned i = 4; i < SAMPLES; i++)
		for (unsigned k = i + 1; k < SAMPLES; k++)
			if (order[k] < order[i]) {
				sample_id swap = order[i];
				order[i] = order[k];
				order[k] = swap;
			}
}

/* Returns the z of the counts. Each row and each column of the table sums to the number of
 * epochs. */
static double z_of(enum leader leader)
{
	struct group group = {.now_ns = 1000000000};
	unsigned count[SAMPLES][SAMPLES] = {0};
	unsigned epochs = EPOCHS;
	rng_seed(&group.rng, 3);
	group.ids = roaring_bitmap_from_range(0, SAMPLES, 1);
	for (unsigned i = 0; i < epochs; i++) {
		sample_id order[SAMPLES];
		epoch(&group, order);
		if (leader == SORTED_LEADER)
			mutate(&group, order);
		for (unsigned k = 0; k < SAMPLES; k++)
			count[k][order[k]]++;
	}
	roaring_bitmap_free(group.ids);
	double expected = (double)epochs / SAMPLES, chi_square = 0;
	for (unsigned k = 0; k < SAMPLES; k++)
		for (unsigned s = 0; s < SAMPLES; s++)
			chi_square += (count[k][s] - expected) *
				      (count[k][s] - expected) / expected;
	/* The mean is that of (n - 1) * (n - 1) free cells. */
	double freedom = (SAMPLES - 1) * (SAMPLES - 1);
	return chi_square_z(chi_square * (SAMPLES - 1) / SAMPLES, (unsigned)freedom);
}

Test(coord_uniform, orders_over_deaths_and_repairs_are_uniform)
{
	double z = z_of(HONEST_LEADER);
	cr_assert_lt(z, Z_LIMIT, "z = %.2f", z);
	cr_assert_gt(z, -Z_LIMIT, "z = %.2f", z);
}

Test(coord_uniform, a_mutant_that_draws_in_order_is_rejected)
{
	double z = z_of(SORTED_LEADER);
	cr_assert_gt(z, 2 * Z_LIMIT, "z = %.2f", z);
}
