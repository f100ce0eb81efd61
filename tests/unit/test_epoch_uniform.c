// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#define WORLD_EPOCHS 8
#include "effort.h"
#include "epoch_world.h"
#include "sampler_twin.h"
#include "script_loader.h"

/*
 * Three passes over current/, by one script, or by three scripts one after the other. In the third
 * pass each order of samples must be equally likely, and independent of the order in the second
 * pass.
 */

#define N 5
#define ORDERS 120 /* N! */
#define PASSES 3
#define RUNS effort(6000, 60000)

struct orders {
	uint32_t by_file[PASSES][N];
};

/* Returns the number of the order, 0 ... N! - 1. */
static unsigned number_of(const uint32_t *order)
{
	unsigned number = 0;
	for (unsigned i = 0; i < N; i++) {
		unsigned smaller = 0;
		for (unsigned k = i + 1; k < N; k++)
			smaller += order[k] < order[i];
		number = number * (N - i) + smaller;
	}
	return number;
}

/* The mutant draws the third pass in the order of the second one. */
static struct orders read_passes(uint64_t seed, bool scripts, bool in_order, bool mutant)
{
	struct epoch_world world;
	struct epochs_config config = {.kind = EPOCHS_DRAWN,
		.set.positions = N,
		.limit = WORLD_EPOCHS,
		.lookahead = 2,
		.file = 1,
		.idle_ns = UINT64_C(600000000000)};
	struct orders orders;
	world_begin(&world, &config, seed);
	rng_seed(&rng, seed);
	for (unsigned pass = 0; pass < PASSES; pass++) {
		struct accesses accesses = {0};
		load(&accesses, (struct loader){.files = N,
					.passes = 1,
					.in_order = in_order,
					.stays = true,
					.seed = rng_next(&rng),
					.script = scripts ? 1 + pass : 1});
		if (mutant && pass > 0)
			rng_seed(&world.rng, seed);
		for (size_t i = 0; i < accesses.n; i++) {
			const struct access *access = &accesses.list[i];
			struct world_request *request = world_request_by(&world,
				EPOCH_CURRENT, access->file, access->reader, false);
			world_open(&world, request);
			cr_assert_eq(request->request.status, 0);
			orders.by_file[pass][access->file] = request->request.sample / 2;
			world_release(&world, request, true);
		}
		if (scripts)
			epochs_script_ended(world.epochs, 1 + pass);
		free(accesses.list);
	}
	world_end(&world);
	return orders;
}

static double z_of(const unsigned *counts, unsigned runs)
{
	double expected = (double)runs / ORDERS, chi_square = 0;
	for (unsigned i = 0; i < ORDERS; i++)
		chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
	return chi_square_z(chi_square, ORDERS - 1);
}

/* Returns the worst z of two counts: the third order, and the permutation from the second order to
 * the third. */
static double worst(bool scripts, bool in_order, bool mutant)
{
	unsigned runs = RUNS, third[ORDERS] = {0}, relative[ORDERS] = {0};
	for (unsigned run = 0; run < runs; run++) {
		struct orders orders = read_passes(run, scripts, in_order, mutant);
		uint32_t from_second[N];
		for (unsigned i = 0; i < N; i++)
			from_second[orders.by_file[1][i]] = orders.by_file[2][i];
		third[number_of(orders.by_file[2])]++;
		relative[number_of(from_second)]++;
	}
	double z = z_of(third, runs), other = z_of(relative, runs);
	return z > other ? z : other;
}

static void check(bool scripts, bool in_order)
{
	double z = worst(scripts, in_order, false);
	cr_assert_lt(
		z, Z_LIMIT, "scripts %d, in order %d: z = %.2f", scripts, in_order, z);
}

Test(epoch_uniform, third_pass_of_a_script_in_order, .timeout = 600)
{
	check(false, true);
}

Test(epoch_uniform, third_pass_of_a_script_that_shuffles, .timeout = 600)
{
	check(false, false);
}

Test(epoch_uniform, third_script_in_a_row_in_order, .timeout = 600)
{
	check(true, true);
}

Test(epoch_uniform, third_script_in_a_row_that_shuffles, .timeout = 600)
{
	check(true, false);
}

Test(epoch_uniform, mutants_are_rejected, .timeout = 600)
{
	cr_assert_gt(worst(true, true, true), Z_LIMIT);
}
