// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * What several nodes do, computed with the daemon's own homes, locality and samplers:
 * 4 to 256 nodes, up to 1,024 learners.
 *
 *   Flow: cluster_print runs all tables. Each prints itself, and hands its figures to
 *         cluster_figure.
 *   Errors: -errno.
 */

#define CLUSTER_MOST_FIGURES 256

/* Of a table, at x of a curve. */
struct cluster_figure {
	const char *table;
	char curve[32];
	double x, value;
};

struct cluster_out {
	FILE *out;
	struct cluster_figure figures[CLUSTER_MOST_FIGURES];
	size_t n;
};

/* The page; csv, svg: NULL or a path. */
must_check int cluster_print(FILE *out, const char *csv, const char *svg);

/* What the CSV and the plots have of the page. */
void cluster_figure(struct cluster_out *out, const char *table, const char *curve,
	double x, double value);

/* cluster_plot.c */
must_check int cluster_plot(const struct cluster_out *out, const char *path);

/* cluster_locality.c: what moves, in how many messages, and what that costs. */
must_check int cluster_locality(struct cluster_out *out);
/* cluster_homes.c: how even homes are, what moves when a node joins, and E.4's hashes. */
must_check int cluster_homes(struct cluster_out *out);
/* cluster_speed.c: storage that all nodes share, and the leader's time. */
must_check int cluster_speed(struct cluster_out *out);

/* e^-b b^b / b!: the share of a mini-batch of b samples per learner that moves. */
double cluster_law(double b);

/* The share that moves with so many learners, each a node of its own; the mean of some
 * batches. -errno. */
must_check int cluster_share(uint32_t learners, uint32_t b, double *ret_share);
