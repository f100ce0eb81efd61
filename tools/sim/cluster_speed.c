// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "cluster.h"
#include "base/clock.h"
#include "sampler/sampler.h"

#include <errno.h>
#include <math.h>

/*
 * The speed of loading, in samples per second:
 *
 *     without caches   min(n r, B / s)
 *     with caches      min(n r, n N / (s m))
 *
 * n nodes prepare r samples per second each. A sample has s bytes. The storage gives B bytes per
 * second to all nodes together, and can be the limit without caches. The network carries N bytes
 * per second for each node, and can be the limit with caches: the share m of the samples moves over
 * the network. The first epoch, which fills the caches, has the speed without caches.
 *
 * Yang and Cong measured a speed-up of more than 30 with 256 nodes, but do not print r, B and s;
 * the values here are assumptions.
 */
#define SAMPLE_BYTES 110e3 /* s: mean of ImageNet's files */
#define PREPARED 5500.	   /* r: 44 cores, each with 8 ms per sample */
#define NETWORK 12.5e9	   /* N: EDR InfiniBand */
#define LEARNERS 4	   /* per node */
#define EPOCHS 90

static double speed_up(double n, double storage, double share)
{
	double without = fmin(n * PREPARED, storage / SAMPLE_BYTES);
	double with = fmin(n * PREPARED, n * NETWORK / (SAMPLE_BYTES * share));
	return with / without;
}

static int print_storage(struct cluster_out *out)
{
	static const double gigabytes[] = {2.5, 5, 10, 20};
	static const uint32_t nodes[] = {1, 4, 16, 64, 256};
	printf("\nHow much faster loading is if all samples are in some cache and the\n"
	       "storage was the limit. Assumptions about the paper's machine: %g KB a\n"
	       "sample, %g samples per second prepared by a node, %g GB/s of network "
	       "for a\n"
	       "node; the head of a column is the rate of the storage for all nodes\n"
	       "together.\n\n"
	       "nodes  learners   moved",
		SAMPLE_BYTES / 1e3, PREPARED, NETWORK / 1e9);
	for (int k = 0; k < 4; k++)
		printf(" %5g GB/s", gigabytes[k]);
	putchar('\n');
	for (int i = 0; i < 5; i++) {
		double share, n = nodes[i];
		int err = cluster_share(nodes[i] * LEARNERS, 32, &share);
		if (err)
			return err;
		printf("%5u %9u %6.2f%%", nodes[i], nodes[i] * LEARNERS, 100 * share);
		for (int k = 0; k < 4; k++) {
			char curve[32];
			double faster = speed_up(n, gigabytes[k] * 1e9, share);
			printf(" %9.1fx", faster);
			snprintf(curve, sizeof(curve), "%gGB/s", gigabytes[k]);
			cluster_figure(out, "speed-up", curve, n, faster);
		}
		putchar('\n');
	}
	double faster = speed_up(256, 5e9, cluster_law(32));
	double most = 256 * PREPARED * SAMPLE_BYTES / 30 / 1e9;
	printf("The paper's more than 30 at 256 nodes follows if the storage delivers "
	       "less\n"
	       "than %.1f GB/s, the amount that %.1f of the nodes can prepare. The "
	       "first\n"
	       "epoch fills the caches and is not faster: of %d epochs, %.1f times "
	       "becomes\n"
	       "%.1f.\n",
		most, 256. / 30, EPOCHS, faster, EPOCHS / (1 + (EPOCHS - 1) / faster));
	cluster_figure(out, "storage-for-30", "GB/s", 256, most);
	return 0;
}

#define SAMPLES 1281167
#define ROUNDS 200000
#define MOST_JOBS 8

/* Job j reads all samples except the first j/20 of them. */
static int fill(struct sampler *sampler, uint32_t jobs)
{
	int err = 0;
	for (uint32_t j = 0; j < jobs && !err; j++) {
		roaring_bitmap_t *set =
			roaring_bitmap_from_range(j * (SAMPLES / 20), SAMPLES, 1);
		if (!set)
			return -ENOMEM;
		err = sampler_join(sampler, j, 0, set);
		if (err)
			roaring_bitmap_free(set);
		/* sampler_insert takes over the set, also on failure */
		else
			err = sampler_insert(sampler, j, j, set);
	}
	return err;
}

static int draw_all(enum sampler_kind kind, uint32_t jobs, double *ret_us)
{
	struct sampler *sampler;
	stream_id streams[MOST_JOBS];
	sample_id samples[MOST_JOBS];
	int err = sampler_new(kind, 1, &sampler);
	if (err)
		return err;
	err = fill(sampler, jobs);
	for (uint32_t j = 0; j < jobs; j++)
		streams[j] = j;
	uint64_t begin = clock_now_ns();
	for (uint32_t i = 0; i < ROUNDS && !err; i++)
		sampler_draw(sampler, streams, jobs, samples);
	*ret_us = (double)(clock_now_ns() - begin) / 1000 / (double)ROUNDS / jobs;
	sampler_free(&sampler);
	return err;
}

static int print_leader(struct cluster_out *out)
{
	static const uint32_t jobs[] = {1, 2, 4, 8};
	printf("\nThe leader's time for a draw from %d samples in rounds of all jobs, "
	       "in\n"
	       "us of one thread here. If 1,024 learners read 400 (1,400) samples per\n"
	       "second each, the leader has 2.4 (0.7) us.\n\njobs     dsa  exchange\n",
		SAMPLES);
	for (int i = 0; i < 4; i++) {
		double dsa, exchange;
		int err = draw_all(SAMPLER_DSA, jobs[i], &dsa);
		if (!err)
			err = draw_all(SAMPLER_EXCHANGE, jobs[i], &exchange);
		if (err)
			return err;
		printf("%4u %7.2f %9.2f\n", jobs[i], dsa, exchange);
		cluster_figure(out, "draw", "dsa", jobs[i], dsa);
		cluster_figure(out, "draw", "exchange", jobs[i], exchange);
	}
	return 0;
}

int cluster_speed(struct cluster_out *out)
{
	int err = print_storage(out);
	return err ? err : print_leader(out);
}
