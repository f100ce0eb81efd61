// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include <criterion/criterion.h>

#include "effort.h"
#include "exchange_twin.h"

/*
 * Streams of a round draw samples of the same class as often as is possible for streams that draw
 * uniformly: with probability sum of min(p_i, p_k), where p are the parts of the classes in the
 * remaining samples. The sample that is given is of the drawn class.
 */

#define RUNS effort(6000, 20000) /* notice a difference of .03 (few), or .02 (many) */
#define JOBS 3

struct setting {
	const char *name;
	mask set[JOBS];
	mask remaining[JOBS]; /* 0: equals the set */
};

static const struct setting settings[] = {
	{"same", {0xffff, 0xffff}, {0}},
	{"same, at other places", {0xffff, 0xffff}, {0xf00f, 0x0ff0}},
	{"overlapping", {0x3ff, 0xfffe0}, {0}},
	{"overlapping, partial", {0x3ff, 0xfffe0}, {0x3e1, 0xf0c60}},
	{"nothing in common", {0xff, 0xff00}, {0}},
	{"nested", {0xffff, 0xff, 0xf}, {0}},
	{"nested, in another order", {0xff, 0xf, 0xffff}, {0}},
	{"almost all", {0xfffffffffffffff, 0x1fffffffffffffff}, {0}},
};

#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

static double most(const struct ex_world *world, int i, int k)
{
	mask a = world->job[i].r;
	mask b = world->job[k].r;
	mask classes[64];
	double sum = 0;
	size_t n = ex_classes(world, classes);
	for (size_t c = 0; c < n; c++)
		sum += fmin((double)twin_size(a & classes[c]) / twin_size(a),
			(double)twin_size(b & classes[c]) / twin_size(b));
	return sum;
}

static void begin(struct ex_world *world, const struct setting *setting)
{
	for (int j = 0; j < JOBS && setting->set[j]; j++) {
		mask r = setting->remaining[j];
		ex_begin(world, j, r ? r : setting->set[j]);
	}
}

static void end(struct ex_world *world)
{
	for (int j = 0; j < JOBS; j++)
		ex_end(world, j);
	ex_evict_all(world);
}

/* Returns how often two jobs are given samples of one class. together: in one round. */
static double frequency(struct ex_world *world, const struct setting *setting, int i,
	int k, bool together)
{
	unsigned same = 0;
	for (unsigned run = 0, n = RUNS; run < n; run++) {
		int a[EX_JOBS];
		int b[EX_JOBS];
		begin(world, setting);
		ex_round(world, together ? ~0U : 1U << i, a);
		if (together)
			memcpy(b, a, sizeof(b));
		else
			ex_round(world, 1U << k, b);
		same += (ex_class(world, a[i]) & ex_bit(b[k])) != 0;
		end(world);
	}
	return (double)same / RUNS;
}

static void check(const struct setting *setting)
{
	struct ex_world world = {.slots = 8};
	ex_new(&world, 9, true);
	for (int j = 0; j < JOBS && setting->set[j]; j++)
		ex_join(&world, j, setting->set[j], 0);
	for (int i = 0; i < JOBS; i++)
		for (int k = i + 1; k < JOBS && setting->set[k]; k++) {
			begin(&world, setting);
			double p = most(&world, i, k);
			end(&world);
			double f = frequency(&world, setting, i, k, true);
			double bound = Z_LIMIT * sqrt(p * (1 - p) / RUNS);
			cr_assert_leq(fabs(f - p), bound + 1e-9, "%s: %.4f, not %.4f",
				setting->name, f, p);
		}
	sampler_free(&world.sampler);
}

Test(exchange_round, streams_agree_as_often_as_any_could)
{
	for (size_t i = 0; i < SETTINGS; i++)
		check(&settings[i]);
}

/* The measure sees the difference: in rounds of their own, streams agree only by chance. */
Test(exchange_round, streams_of_other_rounds_agree_less)
{
	static const struct setting overlapping = {"", {0x3ff, 0xfffe0}, {0}};
	const double p = 5. / 10 * 5 / 15;
	struct ex_world world = {.slots = 8};
	ex_new(&world, 9, true);
	for (int j = 0; j < 2; j++)
		ex_join(&world, j, overlapping.set[j], 0);
	double f = frequency(&world, &overlapping, 0, 1, false);
	cr_assert_leq(fabs(f - p), Z_LIMIT * sqrt(p * (1 - p) / RUNS), "%.4f", f);
	sampler_free(&world.sampler);
}
