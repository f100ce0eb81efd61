// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/compare.h"
#include "cluster.h"
#include "base/rng.h"
#include "place/place.h"

/* Compares three rules for the home of a sample, which is the node that prepares it: rendezvous
 * hashing, the remainder of the id, and the two hashes of JOADER's appendix E.4. */

#define SAMPLES 1281167 /* number of ImageNet's samples */
#define MOST 257
#define SPACE 1

static int make_place(uint32_t n, struct place **ret)
{
	struct place_node nodes[MOST];
	for (uint32_t i = 0; i < n; i++) {
		char name[16];
		int bytes = snprintf(name, sizeof(name), "node-%u", i);
		nodes[i] = (struct place_node){
			.hash = place_hash(name, (size_t)bytes), .capacity = 1};
	}
	return place_new(nodes, n, ret);
}

struct balance {
	double most, least; /* most and least samples of a node, relative to the mean */
	double joins; /* fraction of the samples that get another home when a node joins */
	/* the same fraction, if a sample's home were its id modulo the number of nodes */
	double remainder;
};

static int run_balance(uint32_t n, struct balance *ret)
{
	struct place *before = NULL, *after = NULL;
	uint32_t counts[MOST] = {0}, moved = 0, others = 0, most = 0, least = UINT32_MAX;
	int err = make_place(n, &before);
	if (!err)
		err = make_place(n + 1, &after);
	for (sample_id s = 0; s < SAMPLES && !err; s++) {
		uint32_t home = place_home(before, SPACE, s);
		counts[home]++;
		moved += place_home(after, SPACE, s) != home;
		others += s % n != s % (n + 1);
	}
	for (uint32_t i = 0; i < n; i++) {
		most = counts[i] > most ? counts[i] : most;
		least = counts[i] < least ? counts[i] : least;
	}
	double mean = (double)SAMPLES / n;
	*ret = (struct balance){.most = most / mean,
		.least = least / mean,
		.joins = (double)moved / SAMPLES,
		.remainder = (double)others / SAMPLES};
	place_free(&before);
	place_free(&after);
	return err;
}

static int print_balance(struct cluster_out *out)
{
	static const uint32_t nodes[] = {4, 16, 64, 256};
	printf("\nHomes of %d samples\n\n"
	       "nodes  fullest  emptiest   moved when a node joins  1/(n+1)  by "
	       "remainder\n",
		SAMPLES);
	for (int i = 0; i < 4; i++) {
		struct balance balance;
		uint32_t n = nodes[i];
		int err = run_balance(n, &balance);
		if (err)
			return err;
		printf("%5u %8.3f %9.3f %24.2f%% %7.2f%% %12.1f%%\n", n, balance.most,
			balance.least, 100 * balance.joins, 100. / (n + 1),
			100 * balance.remainder);
		cluster_figure(out, "fullest", "rendezvous", n, balance.most);
		cluster_figure(out, "emptiest", "rendezvous", n, balance.least);
		cluster_figure(out, "joins", "rendezvous", n, balance.joins);
		cluster_figure(out, "joins", "remainder", n, balance.remainder);
	}
	return 0;
}

#define NODES 16
#define DRAWS 2000 /* number of random choices of the nodes on which jobs run */
#define MOST_JOBS 8

/* Draws n of the nodes, in ascending order. */
static void draw_nodes(struct rng *rng, uint32_t n, uint32_t ret[static NODES])
{
	for (uint32_t i = 0; i < NODES; i++)
		ret[i] = i;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = i + (uint32_t)rng_below(rng, NODES - i), node = ret[i];
		ret[i] = ret[j];
		ret[j] = node;
	}
	qsort(ret, n, sizeof(ret[0]), compare_u32);
}

/* Returns the mean number of decodes of a sample. Each job has its own nodes, and so its own home
 * for the sample; each different home decodes the sample once. */
static double decodes(struct rng *rng, uint32_t jobs, uint32_t nodes_each)
{
	uint32_t nodes[MOST_JOBS][NODES];
	const uint32_t samples = 500;
	uint64_t sum = 0;
	for (uint32_t j = 0; j < jobs; j++)
		draw_nodes(rng, nodes_each, nodes[j]);
	for (sample_id s = 0; s < samples; s++) {
		uint32_t homes = 0;
		for (uint32_t j = 0; j < jobs; j++)
			homes |= 1u
				 << place_joader(NODES, nodes[j], nodes_each, SPACE, s);
		sum += (uint64_t)__builtin_popcount(homes);
	}
	return (double)sum / samples;
}

static int print_decodes(struct cluster_out *out)
{
	static const uint32_t jobs[] = {2, 4, 8}, each[] = {4, 8, 12, 16};
	struct rng rng;
	rng_seed(&rng, 1);
	fputs("\nDecodes per sample of jobs on random nodes of 16, with one home for "
	      "each\n"
	      "sample, and with the two hashes of JOADER's E.4\n\n"
	      "jobs  nodes each  rendezvous  two hashes\n",
		stdout);
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 4; k++) {
			double sum = 0;
			char curve[16];
			for (int draw = 0; draw < DRAWS; draw++)
				sum += decodes(&rng, jobs[i], each[k]);
			printf("%4u %11u %11.2f %11.2f\n", jobs[i], each[k], 1.,
				sum / DRAWS);
			snprintf(curve, sizeof(curve), "%u", jobs[i]);
			cluster_figure(out, "decodes", curve, each[k], sum / DRAWS);
		}
	return 0;
}

int cluster_homes(struct cluster_out *out)
{
	int err = print_balance(out);
	return err ? err : print_decodes(out);
}
