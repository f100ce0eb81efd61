// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

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

struct cluster_out {
	FILE *out;
	FILE *csv; /* NULL: none */
};

/* The page; csv: NULL or a path. */
must_check int cluster_print(FILE *out, const char *csv);

/* A line of the CSV: of a table, a figure at x of a curve. */
void cluster_figure(const struct cluster_out *out, const char *table, const char *curve,
	double x, double value);

/* cluster_locality.c: what moves, in how many messages, and what that costs. */
must_check int cluster_locality(const struct cluster_out *out);
/* cluster_homes.c: how even homes are, what moves when a node joins, and E.4's hashes. */
must_check int cluster_homes(const struct cluster_out *out);
/* cluster_speed.c: storage that all nodes share, and the leader's time. */
must_check int cluster_speed(const struct cluster_out *out);

/* e^-b b^b / b!: the share of a mini-batch of b samples per learner that moves. */
double cluster_law(double b);

/* The share that moves with so many learners, each a node of its own; the mean of some
 * batches. -errno. */
must_check int cluster_share(uint32_t learners, uint32_t b, double *ret_share);
