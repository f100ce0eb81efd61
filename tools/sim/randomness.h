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
 *   Flow: several jobs read some epochs together. This is repeated many times, each time with
 *         another seed. Figures are computed from the positions of the samples. randomness_run
 *         does this for all settings.
 *   Bounds: runs with different seeds are independent, epochs of one run may not be. So a claim
 *         about one epoch is tested with one epoch of each run.
 */

/* The probability that a figure exceeds its bounds although orders are uniform and independent.
 * There are fewer than a thousand figures, so with a confidence of more than 99.9% all of them are
 * within their bounds. */
#define RANDOMNESS_P 1e-6

/* --- what is measured --------------------------------------------------------------- */

/* The positions at which a job got the samples of its set. The ids of these samples are first ..
 * first + n - 1. */
struct places {
	uint32_t first;
	uint32_t n;
	uint32_t runs;
	uint32_t epochs;
	uint32_t *at; /* position of each sample in each run and epoch: places_of */
};

static inline uint32_t *places_of(
	const struct places *places, uint32_t run, uint32_t epoch)
{
	return &places->at[((size_t)run * places->epochs + epoch) * places->n];
}

/* --- figures ------------------------------------------------------------------------ */

struct figure {
	double value;
	double expected;
	double bound; /* largest distance from the expected value that chance explains */
	double p; /* probability that chance alone gives a value at least as far away */
	bool one_sided; /* a chi-square: only values above the expected one count */
	bool measured;
};

/* Returns a chi-square divided by its degrees of freedom, so 1 is expected. Samples and positions
 * are divided into groups of equal size. */
struct figure figure_positions(const struct places *places, uint32_t epoch);
/* Tests whole orders. For sets of 3 to 5 samples. */
struct figure figure_orders(const struct places *places, uint32_t epoch);
/* Tests pairs of whole orders, of this epoch and the next. For sets of 3 or 4 samples. */
struct figure figure_two_orders(const struct places *places, uint32_t epoch);

/* Returns the correlation of the ids of neighbours, minus its expected value. */
struct figure figure_neighbours(const struct places *places, uint32_t epoch);
/* Returns the correlation of a sample's positions in epochs that are `lag` apart. */
struct figure figure_epochs(const struct places *places, uint32_t lag);
/* Returns the correlation of a sample's positions in the same epoch of two jobs. */
struct figure figure_jobs(const struct places *a, const struct places *b);

/*
 * Returns the fraction of gaps below `gap`; gaps equal to it count half. A gap is the distance
 * between two reads of a sample, in epochs. It is between 0 and 2, with a triangular density.
 */
struct figure figure_gaps(const struct places *places, double gap);

#define GAP_DECILES 9
/* Computes the deciles of all gaps, in epochs; their mean is always 1. false: no memory. */
bool gap_deciles(const struct places *places, double ret[GAP_DECILES]);
/* Computes the expected deciles, which are those of the triangular density. */
void gap_deciles_expected(double ret[GAP_DECILES]);

/* --- jobs that run together --------------------------------------------------------- */

#define RANDOMNESS_JOBS 3

/* A group of jobs that run together. Sizes are in units: one sample if whole orders are counted,
 * many samples for other figures. Jobs run continuously, so faster jobs have more epochs. */
struct setting {
	const char *name;
	const char *what;
	struct {
		uint32_t first; /* beginning of the job's set, in units */
		uint32_t end;
		double speed; /* speed relative to the other jobs */
		double start; /* start, in epochs */
	} job[RANDOMNESS_JOBS];
	size_t n_jobs;
	double cache; /* size of the cache, in units */
	uint32_t
		slots; /* samples in the cache; used instead of `cache` if a unit is one sample */
};

extern const struct setting settings[]; /* ends with a name of NULL */

struct setting_run {
	const struct setting *setting;
	enum sampler_kind sampler;
	uint32_t unit; /* samples in a unit */
	uint32_t runs;
	uint32_t epochs; /* epochs of each job that are recorded */
	uint64_t seed;
};

/* Runs the setting. The caller frees ret[].at of each job. After -ENOMEM nothing needs to be
 * freed. */
must_check int setting_places(
	const struct setting_run *run, struct places ret[RANDOMNESS_JOBS]);

/* --- the program -------------------------------------------------------------------- */

#define RANDOMNESS_MIN_EPOCHS 400
#define RANDOMNESS_MAX_EPOCHS 1000000

struct randomness_options {
	uint32_t epochs; /* epochs of each job in each setting; 0: the default */
	uint64_t seed;
	FILE *csv; /* may be NULL */
};

/* Prints the tables. *ret_as_claimed: all promised figures are within their bounds. */
must_check int randomness_run(
	const struct randomness_options *options, bool *ret_as_claimed);
