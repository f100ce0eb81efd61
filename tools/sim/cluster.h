// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Simulates several nodes with the daemon's own homes, locality and samplers: 1 to 1,024 nodes,
 * each with one or four learners (another word for ranks). Each table passes its values to
 * cluster_figure. Errors: -errno. */

#define CLUSTER_MOST_FIGURES 256

/* A value of a table, and of the curve that plots the table. */
struct cluster_figure {
	const char *table;
	char curve[32];
	double x, value;
};

struct cluster_out {
	struct cluster_figure figures[CLUSTER_MOST_FIGURES];
	size_t n;
};

/* Prints all tables. csv, svg: a path, or NULL. */
must_check int cluster_print(const char *csv, const char *svg);

void cluster_figure(struct cluster_out *out, const char *table, const char *curve,
	double x, double value);

must_check int cluster_plot(const struct cluster_out *out, const char *path);

/* Prints the moved samples and the messages of a mini-batch, and the time to compute them. */
must_check int cluster_locality(struct cluster_out *out);
/* Prints how evenly samples are divided among nodes, how many samples move when a node joins, and
 * the effect of the two hashes in JOADER's appendix E.4. */
must_check int cluster_homes(struct cluster_out *out);
/* Prints the speed of loading from a storage that all nodes share, and of the leader's draws. */
must_check int cluster_speed(struct cluster_out *out);

/* Returns e^-b b^b / b!: the expected fraction of a mini-batch that moves between nodes, if each
 * learner takes b samples. */
double cluster_law(double b);

/* Computes the fraction of a mini-batch that moves between nodes: the mean of several batches. Each
 * learner has its own node, and takes b samples of a batch. */
must_check int cluster_share(uint32_t learners, uint32_t b, double *ret_share);
