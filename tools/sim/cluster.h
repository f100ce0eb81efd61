// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Simulates several nodes with the daemon's own homes, locality and samplers: 4 to 256 nodes, up
 * to 1,024 learners.
 *
 *   Flow: cluster_print runs all tables. Each prints itself, and hands its figures to
 *         cluster_figure.
 *   Errors: -errno.
 */

#define CLUSTER_MOST_FIGURES 256

/* A value of a table, at place x of a curve. */
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

/* Prints the page. csv, svg: a path, or NULL. */
must_check int cluster_print(FILE *out, const char *csv, const char *svg);

/* Adds a value of the page to the CSV and the plots. */
void cluster_figure(struct cluster_out *out, const char *table, const char *curve,
	double x, double value);

/* Draws the plots (cluster_plot.c). */
must_check int cluster_plot(const struct cluster_out *out, const char *path);

/* Prints the tables of samples that move, of messages, and of their cost (cluster_locality.c). */
must_check int cluster_locality(struct cluster_out *out);
/* Prints the tables of how even homes are, of the samples that move when a node joins, and of the
 * two hashes of appendix E.4 (cluster_homes.c). */
must_check int cluster_homes(struct cluster_out *out);
/* Prints the tables of a storage that all nodes share, and of the leader's time
 * (cluster_speed.c). */
must_check int cluster_speed(struct cluster_out *out);

/* Returns e^-b b^b / b!: the fraction of a mini-batch with b samples per learner that moves. */
double cluster_law(double b);

/* Computes the fraction of a mini-batch that moves between nodes, as the mean of several batches.
 * Each learner is on a node of its own, and takes b samples of a batch. -errno. */
must_check int cluster_share(uint32_t learners, uint32_t b, double *ret_share);
