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
 * Measures how random the orders are that jobs get, between epochs and between jobs, beside
 * orders that are uniform and independent of each other.
 *
 *   Flow: jobs run several epochs together, many times, each time with another seed. The
 *         position of each sample in each epoch is noted, and figures are made of these.
 *         randomness_run does all of it for all scenarios.
 *   Bounds: only the seeds are taken to be independent. Within a run epochs may depend on
 *         each other: that is a figure of its own. So a claim about one epoch is tested
 *         on one epoch of each run.
 */

/* The probability that a figure is out of its bounds although orders are uniform and
 * independent. There are less than a thousand figures: all of them are within their bounds
 * with a confidence of more than 99.9%. */
#define RANDOMNESS_P 1e-6

/* --- what is measured --------------------------------------------------------------- */

/* The positions at which a job got the samples of its set, the ids first .. first + n - 1. */
struct places {
	uint32_t first;
	uint32_t n;
	uint32_t runs;
	uint32_t epochs;
	uint32_t *at; /* indexed by place_of */
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
	double bound;	/* largest distance from the expected value */
	double p;	/* probability of a value at least as far off by chance */
	bool one_sided; /* a chi-square: only values above count as far off */
	bool measured;
};

/* Returns a chi-square over its degrees of freedom, so that 1 is expected. Samples and
 * positions are in equal groups. */
struct figure figure_positions(const struct places *places, uint32_t epoch);
/* Tests whole orders, of sets of 3 to 5 samples. */
struct figure figure_orders(const struct places *places, uint32_t epoch);
/* Tests pairs of whole orders, of this epoch and the next one, of sets of 3 or 4 samples. */
struct figure figure_two_orders(const struct places *places, uint32_t epoch);

/* Returns the correlation of the ids of neighbours, less its expected value. */
struct figure figure_neighbours(const struct places *places, uint32_t epoch);
/* Returns the correlation of a sample's positions in epochs that are `lag` apart. */
struct figure figure_epochs(const struct places *places, uint32_t lag);
/* Returns the correlation of a sample's positions in the same epoch of two jobs. */
struct figure figure_jobs(const struct places *a, const struct places *b);

/*
 * Returns the share of gaps below `gap` (gaps equal to it count half). A gap is the distance
 * between two reads of a sample, in epochs: from 0 to 2, its density is a triangle.
 */
struct figure figure_gaps(const struct places *places, double gap);

#define GAP_DECILES 9
/* Computes the deciles of all gaps, in epochs; their mean is always 1. false: no memory. */
bool gap_deciles(const struct places *places, double ret[GAP_DECILES]);
/* Computes the deciles of the triangle. */
void gap_deciles_expected(double ret[GAP_DECILES]);

/* --- jobs that run together --------------------------------------------------------- */

#define RANDOMNESS_JOBS 3

/* Sets in units: of one sample where whole orders are counted, of many for the other figures.
 * Jobs run on: faster jobs have more epochs. */
struct setting {
	const char *name;
	const char *what;
	struct {
		uint32_t first; /* the job's set, in units */
		uint32_t end;
		double speed; /* speed relative to the other jobs */
		double start; /* start, in epochs */
	} job[RANDOMNESS_JOBS];
	size_t n_jobs;
	double cache;	/* size of the cache, in units */
	uint32_t slots; /* slots of the cache, where a unit is one sample */
};

extern const struct setting settings[]; /* ends with a name of NULL */

struct setting_run {
	const struct setting *setting;
	enum sampler_kind sampler;
	uint32_t unit; /* samples in a unit */
	uint32_t runs;
	uint32_t epochs; /* epochs that are noted of each job */
	uint64_t seed;
};

/* Runs the setting. The caller frees ret[].at of each job. After -ENOMEM there is nothing to
 * free. */
must_check int setting_places(
	const struct setting_run *run, struct places ret[RANDOMNESS_JOBS]);

/* --- the program -------------------------------------------------------------------- */

#define RANDOMNESS_MIN_EPOCHS 400
#define RANDOMNESS_MAX_EPOCHS 1000000

struct randomness_options {
	uint32_t epochs; /* epochs of each job in each setting; 0: as many as usual */
	uint64_t seed;
	FILE *csv; /* may be NULL */
};

/* Prints tables. *ret_as_claimed: all promised figures are within their bounds. */
must_check int randomness_run(
	const struct randomness_options *options, bool *ret_as_claimed);
