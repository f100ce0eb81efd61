// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "cluster.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "base/rng.h"
#include "place/locality.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Simulates global mini-batches in which each cached sample is in the cache of one random node.
 * Counts the samples that move to nodes whose learners would otherwise have too few of them (Yang
 * and Cong, HiPC 2019, section on load imbalance). */

#define SEED 1
/* approximate number of samples in all batches of a setting */
#define SAMPLES_EACH 1000000
#define MOST_LEARNERS 1024		   /* also the most nodes */
#define MOST_SAMPLES (MOST_LEARNERS * 256) /* of a batch */

struct setting {
	uint32_t nodes, learners;
	/* number of samples of each learner in a batch; a batch may stand for several
	 * mini-batches */
	uint32_t b;
	double cached; /* fraction of the samples that some node has in its cache */
};

/* Means over the batches. */
struct result {
	/* share: fraction of the samples that move
	 * messages: number of messages with the daemon's locality
	 * sweep: number of messages with the function sweep */
	double share, messages, sweep;
	double us; /* shortest time of locality_assign for a batch */
};

struct world {
	struct setting setting;
	uint32_t sample_node[MOST_SAMPLES], rank[MOST_SAMPLES];
	uint32_t rank_node[MOST_LEARNERS], rank_count[MOST_LEARNERS];
	/* samples of each node beyond those that its learners take */
	int64_t imbalance[MOST_LEARNERS];
	bool pairs[MOST_LEARNERS *
		   MOST_LEARNERS]; /* pairs[from * nodes + to]: samples move */
	struct rng rng;
};

double cluster_law(double b)
{
	return exp(b * log(b) - b - lgamma(b + 1));
}

static void begin(struct world *world, const struct setting *setting)
{
	uint32_t ranks = setting->learners, n = ranks * setting->b;
	ensure(ranks <= MOST_LEARNERS && n <= MOST_SAMPLES);
	world->setting = *setting;
	rng_seed(&world->rng, SEED);
	for (uint32_t r = 0; r < ranks; r++) {
		world->rank_node[r] = (uint32_t)((uint64_t)r * setting->nodes / ranks);
		world->rank_count[r] = setting->b;
	}
}

/* Returns the number of messages if the first node with too many samples always sends to the first
 * node with too few. */
static uint32_t sweep(struct world *world)
{
	uint32_t n = world->setting.nodes, messages = 0, from = 0, to = 0;
	int64_t *imbalance = world->imbalance;
	for (;; messages++) {
		while (from < n && imbalance[from] <= 0)
			from++;
		while (to < n && imbalance[to] >= 0)
			to++;
		if (from == n || to == n)
			return messages;
		int64_t lack = -imbalance[to];
		int64_t part = imbalance[from] < lack ? imbalance[from] : lack;
		imbalance[from] -= part;
		imbalance[to] += part;
	}
}

static void draw_batch(struct world *world)
{
	const struct setting *setting = &world->setting;
	uint32_t n = setting->learners * setting->b;
	for (uint32_t v = 0; v < setting->nodes; v++)
		world->imbalance[v] = 0;
	for (uint32_t r = 0; r < setting->learners; r++)
		world->imbalance[world->rank_node[r]] -= setting->b;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = (uint32_t)rng_below(&world->rng, setting->nodes);
		bool cached =
			setting->cached >= 1 ||
			(double)rng_below(&world->rng, 1000000) < 1e6 * setting->cached;
		world->sample_node[i] = cached ? node : LOCALITY_NOWHERE;
		world->imbalance[node] += cached;
	}
}

/* Adds the samples that move, and the pairs of nodes between which they move. */
static void count_moves(struct world *world, uint32_t n, struct result *result)
{
	uint32_t nodes = world->setting.nodes, moved = 0;
	memset(world->pairs, 0, (size_t)nodes * nodes);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = world->sample_node[i];
		uint32_t to = world->rank_node[world->rank[i]];
		if (from == to || from == LOCALITY_NOWHERE)
			continue;
		bool *pair = &world->pairs[(size_t)from * nodes + to];
		moved++;
		result->messages += !*pair;
		*pair = true;
	}
	result->share += (double)moved / n;
}

static int run_batch(struct world *world, struct result *result)
{
	const struct setting *setting = &world->setting;
	uint32_t n = setting->learners * setting->b;
	const struct locality_batch batch = {.sample_node = world->sample_node,
		.n_samples = n,
		.rank_node = world->rank_node,
		.rank_count = world->rank_count,
		.n_ranks = setting->learners,
		.n_nodes = setting->nodes};
	draw_batch(world);
	uint64_t begin = clock_now_ns();
	int err = locality_assign(&batch, world->rank);
	double us = (double)(clock_now_ns() - begin) / 1000;
	if (err)
		return err;
	count_moves(world, n, result);
	result->sweep += sweep(world);
	result->us = us < result->us ? us : result->us;
	return 0;
}

static int run(const struct setting *setting, struct result *ret)
{
	uint32_t batches = 8 + SAMPLES_EACH / (setting->learners * setting->b);
	static struct world world;
	int err = 0;
	begin(&world, setting);
	*ret = (struct result){.us = INFINITY};
	for (uint32_t i = 0; i < batches && !err; i++)
		err = run_batch(&world, ret);
	ret->share /= batches;
	ret->messages /= batches;
	ret->sweep /= batches;
	return err;
}

int cluster_share(uint32_t learners, uint32_t b, double *ret_share)
{
	const struct setting setting = {learners, learners, b, 1};
	struct result result;
	int err = run(&setting, &result);
	*ret_share = result.share;
	return err;
}

static int print_shares(struct cluster_out *out)
{
	static const uint32_t learners[] = {4, 16, 64, 256, 1024};
	static const uint32_t sizes[] = {32, 64, 128, 256};
	fputs("Samples of a mini-batch that move if each rank takes the samples of its\n"
	      "own node\n\n"
	      "learners  b: samples each   moved     law   messages  by a sweep\n",
		stdout);
	for (int i = 0; i < 5; i++)
		for (int j = 0; j < 4; j++) {
			struct setting setting = {learners[i], learners[i], sizes[j], 1};
			struct result result;
			char curve[16];
			int err = run(&setting, &result);
			if (err)
				return err;
			printf("%8u %17u %6.2f%% %6.2f%% %10.1f %11.1f\n", learners[i],
				sizes[j], 100 * result.share, 100 * cluster_law(sizes[j]),
				result.messages, result.sweep);
			snprintf(curve, sizeof(curve), "%u", sizes[j]);
			cluster_figure(out, "moved", curve, learners[i], result.share);
			cluster_figure(
				out, "messages", curve, learners[i], result.messages);
			cluster_figure(out, "sweep", curve, learners[i], result.sweep);
		}
	for (int j = 0; j < 4; j++)
		cluster_figure(out, "law", "law", sizes[j], cluster_law(sizes[j]));
	return 0;
}

/* Prints a row of the table "less": the moved samples and the messages of one setting. curve, x:
 * the curve of the figure, and its place on the x axis. */
static int print_row(struct cluster_out *out, const char *title, const char *curve,
	double x, const struct setting *setting)
{
	struct result result;
	int err = run(setting, &result);
	if (err)
		return err;
	printf("%-52s %6.2f%% %9.1f\n", title, 100 * result.share, result.messages);
	cluster_figure(out, "less", curve, x, result.share);
	return 0;
}

static int print_less(struct cluster_out *out)
{
	static const struct {
		const char *title, *curve;
		double x;
		struct setting setting;
	} rows[] = {
		{"each learner for itself, b = 32", "learners", 1, {1024, 1024, 32, 1}},
		{"four learners a node, balanced by node", "nodes", 1,
			{256, 1024, 32, 1}},
		{"  two mini-batches at once", "nodes", 2, {256, 1024, 64, 1}},
		{"  three", "nodes", 3, {256, 1024, 96, 1}},
		{"  four", "nodes", 4, {256, 1024, 128, 1}},
		{"each learner for itself, b = 128, all cached", "cached", 1,
			{1024, 1024, 128, 1}},
		{"  99 % cached: the rest fills ranks that lack some", "cached", .99,
			{1024, 1024, 128, .99}},
		{"  90 % cached", "cached", .9, {1024, 1024, 128, .9}},
		{"  50 % cached", "cached", .5, {1024, 1024, 128, .5}},
	};
	fputs("\nFewer moves, 1,024 learners                            moved  "
	      "messages\n",
		stdout);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int err = print_row(
			out, rows[i].title, rows[i].curve, rows[i].x, &rows[i].setting);
		if (err)
			return err;
	}
	return 0;
}

static int print_cost(void)
{
	static const uint32_t nodes[] = {4, 16, 64, 256};
	fputs("\nThe division of a mini-batch among ranks, b = 32, time of one thread "
	      "here\n",
		stdout);
	for (int i = 0; i < 4; i++) {
		struct setting setting = {nodes[i], 4 * nodes[i], 32, 1};
		struct result result;
		int err = run(&setting, &result);
		if (err)
			return err;
		printf("  %3u nodes, %4u learners: %6.0f us, %.1f ns a sample\n",
			nodes[i], 4 * nodes[i], result.us,
			1000 * result.us / (4 * nodes[i] * 32));
	}
	return 0;
}

int cluster_locality(struct cluster_out *out)
{
	int err = print_shares(out);
	if (!err)
		err = print_less(out);
	return err ? err : print_cost();
}
