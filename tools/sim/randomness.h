// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "config/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Measures how random the orders of jobs are, within an epoch, between epochs and between jobs.
 * Compares them with orders that are uniform and independent.
 *
 *   Flow: randomness_run runs each setting many times, with different seeds: several jobs read some
 *         epochs together. It computes figures from the positions of the samples.
 *   Bounds: runs with different seeds are independent, but epochs of one run can depend on each
 *         other. So a claim about one epoch is tested with one epoch of each run.
 */

/* The probability that a figure exceeds its bounds although orders are uniform and independent.
 * Fewer than a thousand figures are then all within their bounds with 99.9% confidence. */
#define RANDOMNESS_P 1e-6

/* The positions at which a job got its samples, whose ids are first .. first + n - 1. */
struct places {
	uint32_t first;
	uint32_t n;
	uint32_t runs;
	uint32_t epochs;
	uint32_t *at; /* position of each sample in each run and epoch (places_of) */
};

static inline uint32_t *places_of(
	const struct places *places, uint32_t run, uint32_t epoch)
{
	return &places->at[((size_t)run * places->epochs + epoch) * places->n];
}

struct figure {
	double value;
	double expected;
	double bound; /* largest distance from the expected value that still counts as chance */
	/* probability that chance gives a value at least as far from the expected one */
	double p;
	bool one_sided; /* a chi-square: only values above the expected one count */
	bool measured;
};

/* Divides the samples and the positions into equal parts, and counts how often a sample of each
 * part gets a position of each part. Returns the chi-square of these counts, divided by its degrees
 * of freedom, so 1 is expected. */
struct figure figure_positions(const struct places *places, uint32_t epoch);
/* Counts in how many runs the samples had each possible order. Returns the chi-square of the
 * counts, divided by its degrees of freedom. Measured for 3 to 5 samples only. */
struct figure figure_orders(const struct places *places, uint32_t epoch);
/* Counts in how many runs the samples had each possible pair of orders, in `epoch` and in the next
 * epoch. Returns the chi-square of these counts as figure_orders does. Measured for 3 or 4 samples
 * only. */
struct figure figure_two_orders(const struct places *places, uint32_t epoch);

/* Returns the correlation of the ids at neighbouring positions, minus its expected value. */
struct figure figure_neighbours(const struct places *places, uint32_t epoch);
/* Returns the correlation of a sample's positions in epochs that are `lag` apart. */
struct figure figure_epochs(const struct places *places, uint32_t lag);
/* Returns the correlation of a sample's positions in the same epoch of two jobs. */
struct figure figure_jobs(const struct places *a, const struct places *b);

/* Returns the fraction of gaps below `gap`; equal gaps count half. A gap is the distance, in
 * epochs, between the reads of a sample in two consecutive epochs: between 0 and 2, with a
 * triangular density. */
struct figure figure_gaps(const struct places *places, double gap);

#define GAP_DECILES 9
/* Computes the deciles of all gaps, in epochs. The mean gap is 1. false: no memory. */
bool gap_deciles(const struct places *places, double ret[GAP_DECILES]);
/* Computes the deciles of the triangular density. */
void gap_deciles_expected(double ret[GAP_DECILES]);

#define RANDOMNESS_JOBS 3

/* Jobs that run together, continuously, so faster jobs have more epochs. Sizes are in units
 * (setting_run.unit): one sample if whole orders are counted, otherwise many. */
struct setting {
	const char *name;
	const char *what;
	struct {
		uint32_t first; /* the job's set is first .. end-1, in units */
		uint32_t end;
		double speed; /* relative to the other jobs */
		double start; /* in epochs of time (sim.h) */
	} job[RANDOMNESS_JOBS];
	size_t n_jobs;
	double cache; /* size of the cache, in units */
	/* size of the cache, in samples; used instead of `cache` if a unit is one sample */
	uint32_t slots;
};

extern const struct setting settings[]; /* ends with a name of NULL */

struct setting_run {
	const struct setting *setting;
	enum sampler_kind sampler;
	uint32_t unit; /* samples */
	uint32_t runs;
	uint32_t epochs; /* recorded epochs of each job */
	uint64_t seed;
};

/* Runs the setting, and collects the positions of each job. The caller frees ret[].at of each job,
 * unless the call fails (-ENOMEM). */
must_check int setting_places(
	const struct setting_run *run, struct places ret[RANDOMNESS_JOBS]);

#define RANDOMNESS_MIN_EPOCHS 400
#define RANDOMNESS_MAX_EPOCHS 1000000

struct randomness_options {
	uint32_t epochs; /* epochs of each job in each setting; 0: the default */
	uint64_t seed;
	FILE *csv; /* may be NULL */
};

/* Prints all figures. *ret_as_claimed: all promised figures are within their bounds. */
must_check int randomness_run(
	const struct randomness_options *options, bool *ret_as_claimed);
