// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * Measures the cost of the sampler dsa, as in section 6 of the JOADER paper (named in
 * tools/sim/dsa_tree.h): datasets of 1 to 2 million ids are inserted, drawn from in rounds, and
 * removed. The figures are CPU times of one thread. "early": the first rounds; all jobs draw in
 * each round. "late": the last 64th of the ids; each job draws in seven of eight rounds, so that
 * the order of the jobs' sizes changes. "whole": all rounds of an epoch.
 *
 * Below each line of dsa, a second line has the figures of the paper's dependent sampling tree
 * (tools/sim/dsa_tree.h), which has to maintain intersections. "more" is the ratio of the tree's
 * figure to that of dsa. Each line of dsa also has the time in which CRoaring intersects two of the
 * sets. Two lines have the times of JOADER's own sampler code, measured once on the machine of
 * tools/bench/README.md. The program takes a few minutes, mostly for the tree.
 */

#include "../sim/sim_sampler.h"
#include "base/clock.h"
#include "base/rng.h"
#include "sampler/idset.h"

#include <stdio.h>
#include <string.h>

#define M 1000000
#define UNIVERSE (2 * M)
#define ROUNDS 5000
#define LATE 64 /* "late" begins when a part of 1 / LATE of the ids is left */
#define MAX_JOBS 128

enum sets { PREFIXES, SUBSETS, HALVES };

struct scenario {
	enum sets sets;
	size_t jobs;
	bool late;     /* the scenario is "late" (see above) */
	size_t rounds; /* 0: until all epochs end */
	/* text that is printed: the times of an insertion and of a round by JOADER's own code */
	const char *theirs;
};

static const char *const names[] = {
	[PREFIXES] = "prefixes, 1-2 M",
	[SUBSETS] = "subsets of 2 M, 1-2 M",
	[HALVES] = "subsets of 2 M, 1 M",
};

static const struct scenario scenarios[] = {
	{PREFIXES, 2, false, ROUNDS, ""},
	{PREFIXES, 8, false, ROUNDS, ""},
	{PREFIXES, 24, false, ROUNDS, ""},
	{PREFIXES, 128, false, ROUNDS, "45 ms  100 us"},
	{SUBSETS, 2, false, ROUNDS, ""},
	{SUBSETS, 8, false, ROUNDS, ""},
	{SUBSETS, 24, false, ROUNDS, "55 ms   39 us"},
	{SUBSETS, 128, false, ROUNDS, ""},
	{HALVES, 24, false, ROUNDS, ""},
	{HALVES, 128, false, ROUNDS, ""},
	{PREFIXES, 24, true, 0, ""},
	{SUBSETS, 24, true, 0, ""},
	{PREFIXES, 128, true, 0, ""},
	{SUBSETS, 128, true, 0, ""},
	{SUBSETS, 24, false, 0, ""},
};

/* CPU times in microseconds. */
struct result {
	double insert; /* mean per stream */
	double remove; /* mean per stream */
	double round;  /* mean per round */
	double p99;
	double max;
	double and; /* time of an intersection of the first two sets by CRoaring */
};

static double cpu_us(void)
{
	return (double)clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1e3;
}

static void out_of_memory(void)
{
	fprintf(stderr, "sampler: out of memory\n");
	exit(1);
}

static roaring_bitmap_t *random_subset(struct rng *rng, uint32_t universe, uint32_t size)
{
	roaring_bitmap_t *ids = roaring_bitmap_create();
	if (!ids)
		out_of_memory();
	for (uint32_t id = 0; id < universe; id++)
		if (rng_below(rng, universe - id) < size) {
			roaring_bitmap_add(ids, id);
			size--;
		}
	return ids;
}

static roaring_bitmap_t *dataset(struct rng *rng, enum sets sets)
{
	uint32_t size = M + (uint32_t)rng_below(rng, M + 1);
	if (sets == SUBSETS)
		return random_subset(rng, UNIVERSE, size);
	if (sets == HALVES)
		return random_subset(rng, UNIVERSE, M);
	roaring_bitmap_t *ids = roaring_bitmap_from_range(0, size, 1);
	if (!ids)
		out_of_memory();
	return ids;
}

static double intersect(const roaring_bitmap_t *a, const roaring_bitmap_t *b)
{
	const int times = 20;
	double begin = cpu_us();
	for (int i = 0; i < times; i++)
		roaring_bitmap_free(roaring_bitmap_and(a, b));
	return (cpu_us() - begin) / times;
}

static void fill(struct sampler *sampler, const struct scenario *scenario,
	struct rng *rng, struct result *result)
{
	roaring_bitmap_t *sets[MAX_JOBS];
	roaring_bitmap_t *left = random_subset(rng, UNIVERSE, UNIVERSE / LATE);
	for (size_t i = 0; i < scenario->jobs; i++) {
		sets[i] = dataset(rng, scenario->sets);
		if (scenario->late)
			roaring_bitmap_and_inplace(sets[i], left);
	}
	roaring_bitmap_free(left);
	result->and = intersect(sets[0], sets[1]);
	double begin = cpu_us();
	for (size_t i = 0; i < scenario->jobs; i++)
		if (sampler_insert(sampler, (stream_id)i, 0, sets[i]))
			out_of_memory();
	result->insert = (cpu_us() - begin) / (double)scenario->jobs;
}

/* Draws one round. *ret_us: the CPU time of the round. Returns false if no samples were left to
 * draw. */
static bool round_of(struct sampler *sampler, const struct scenario *scenario,
	struct rng *rng, double *ret_us)
{
	stream_id streams[MAX_JOBS];
	sample_id samples[MAX_JOBS];
	size_t n = 0;
	bool any = false;
	for (size_t i = 0; i < scenario->jobs; i++)
		if (!scenario->late || rng_below(rng, 8))
			streams[n++] = (stream_id)i;
	double begin = cpu_us();
	sampler_draw(sampler, streams, n, samples);
	*ret_us = cpu_us() - begin;
	for (size_t i = 0; i < n; i++)
		any |= samples[i] != SAMPLE_NONE;
	return any || !n;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void draw(struct sampler *sampler, const struct scenario *scenario,
	struct rng *rng, struct result *result)
{
	size_t limit = scenario->rounds ? scenario->rounds : UNIVERSE * 2;
	auto_free double *us = malloc(limit * sizeof(*us));
	size_t n = 0;
	if (!us)
		out_of_memory();
	while (n < limit && round_of(sampler, scenario, rng, &us[n]))
		result->round += us[n++];
	qsort(us, n, sizeof(us[0]), by_size);
	result->round /= (double)n;
	result->p99 = us[n * 99 / 100];
	result->max = us[n - 1];
}

static void empty(
	struct sampler *sampler, const struct scenario *scenario, struct result *result)
{
	double begin = cpu_us();
	for (size_t i = 0; i < scenario->jobs; i++)
		sampler_remove(sampler, (stream_id)i);
	result->remove = (cpu_us() - begin) / (double)scenario->jobs;
}

static struct result measure(const struct scenario *scenario, enum sampler_kind kind)
{
	struct sampler *sampler = NULL;
	struct result r = {0};
	struct rng rng;
	rng_seed(&rng, 1);
	if (sim_sampler_new(kind, 1, &sampler))
		out_of_memory();
	fill(sampler, scenario, &rng, &r);
	draw(sampler, scenario, &rng, &r);
	empty(sampler, scenario, &r);
	sampler_free(&sampler);
	return r;
}

static void print(const struct result *r, size_t jobs)
{
	printf(" %7.2f %7.3f %8.2f %7.0f %8.1f %7.3f", r->insert / 1e3, r->remove / 1e3,
		r->round, r->p99, r->max, r->round / (double)jobs);
}

static void compare(const struct scenario *scenario)
{
	struct result ours = measure(scenario, SAMPLER_DSA);
	printf("  %-22s %-6s %4zu", names[scenario->sets],
		scenario->late	   ? "late"
		: scenario->rounds ? "early"
				   : "whole",
		scenario->jobs);
	print(&ours, scenario->jobs);
	printf(" %6.1f %6.1f %6.2f  %s\n", ours.and, ours.insert / ours.and,
		ours.round / ours.and, scenario->theirs);
	fflush(stdout);
	struct result tree = measure(scenario, SAMPLER_DSA_TREE);
	printf("  %34s", "with the tree");
	print(&tree, scenario->jobs);
	printf(" more: %.1f insert, %.1f round\n", tree.insert / ours.insert,
		tree.round / ours.round);
	fflush(stdout);
}

static void print_memory(void)
{
	const uint32_t sizes[] = {2 * M, 14 * M};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct idset *set;
		if (idset_new(sizes[i], &set))
			out_of_memory();
		double bytes = (double)idset_bytes(set);
		printf("memory: a stream of %u M ids %.0f kB, %.1f%% above a bit each; "
		       "64 of "
		       "them %.1f MB\n",
			sizes[i] / M, bytes / 1e3, 100 * (bytes * 8 / sizes[i] - 1),
			64 * bytes / 1e6);
		idset_free(&set);
	}
}

static void print_cpu(void)
{
	char line[256];
	auto_fclose FILE *file = fopen("/proc/cpuinfo", "re");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "model name", strlen("model name"))) {
			printf("on one core of:%s", strchr(line, ':') + 1);
			return;
		}
	printf("on an unknown processor\n");
}

int main(void)
{
	print_cpu();
	printf("  %-29s %4s %7s %7s %8s %7s %8s %7s %6s %6s %6s\n", "datasets", "jobs",
		"insert", "remove", "round", "99%", "max", "per job", "and", "insert",
		"round");
	printf("  %-29s %4s %7s %7s %8s %7s %8s %7s %6s %6s %6s  %s\n", "", "", "ms",
		"ms", "us", "us", "us", "us", "us", "ands", "ands", "JOADER");
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		compare(&scenarios[i]);
	print_memory();
	printf("JOADER: insertion and round of its own sampler code, noted once, on the "
	       "machine "
	       "of the\nfigures in tools/bench/README.md; not measured here\n");
	return 0;
}
