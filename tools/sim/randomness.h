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
 * How random the orders are that jobs are given, beside orders that are uniform and
 * independent of each other, between epochs and between jobs.
 *
 *   Flow: jobs run several epochs together, many times, each time with another seed; of
 *         each epoch it is noted where each sample came; figures are made of that.
 *         randomness_run does all of it for the scenarios that there are.
 *   Bounds: only the seeds are taken to be independent. Within a run epochs may depend on
 *         each other: that is a figure of its own. So a claim about one epoch is tested
 *         on one epoch of each run.
 */

/* A figure is within its bounds with this probability less than 1, if orders are uniform
 * and independent. There are less than a thousand figures: all of them are within theirs
 * with a confidence of more than 99.9%. */
#define RANDOMNESS_P 1e-6

/* --- what is measured --------------------------------------------------------------- */

/* Where one job was given each sample of its set, the ids first .. first + n - 1. */
struct places {
	uint32_t first;
	uint32_t n;
	uint32_t runs;
	uint32_t epochs;
	uint32_t *at; /* use place_of */
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
	double bound;	/* it may be so far from what is expected */
	double p;	/* of a value at least as far off by chance */
	bool one_sided; /* a chi-square: only what is above counts as far off */
	bool measured;
};

/* A chi-square for its degrees of freedom, so that 1 is expected: samples in equal
 * groups, positions too. */
struct figure figure_positions(const struct places *places, uint32_t epoch);
/* Whole orders; of sets of 3 to 5 samples. */
struct figure figure_orders(const struct places *places, uint32_t epoch);
/* Pairs of whole orders, of this epoch and the next; of sets of 3 or 4 samples. */
struct figure figure_two_orders(const struct places *places, uint32_t epoch);

/* Correlation of the ids of neighbours; what is expected of it is taken off. */
struct figure figure_neighbours(const struct places *places, uint32_t epoch);
/* Correlation of a sample's positions in epochs that are `lag` apart. */
struct figure figure_epochs(const struct places *places, uint32_t lag);
/* Correlation of a sample's positions in the same epoch of two jobs. */
struct figure figure_jobs(const struct places *a, const struct places *b);

/*
 * The gap between two reads of a sample, in epochs: from 0 to 2, the density is a
 * triangle. The share of gaps below `gap` (those equal to it count half).
 */
struct figure figure_gaps(const struct places *places, double gap);

#define GAP_DECILES 9
/* The deciles of all gaps, in epochs. false: no memory. The mean is always 1. */
bool gap_deciles(const struct places *places, double ret[GAP_DECILES]);
/* Those of the triangle. */
void gap_deciles_expected(double ret[GAP_DECILES]);

/* --- jobs that run together --------------------------------------------------------- */

#define RANDOMNESS_JOBS 3

/* Sets in units: of one sample where whole orders are counted, of many for the other
 * figures. Jobs run on: those that are faster have more epochs. */
struct setting {
	const char *name;
	const char *what;
	struct {
		uint32_t first; /* the set, in units */
		uint32_t end;
		double speed; /* relative to the others */
		double start; /* in epochs */
	} job[RANDOMNESS_JOBS];
	size_t n_jobs;
	double cache;	/* units */
	uint32_t slots; /* of it, where a unit is one sample */
};

extern const struct setting settings[]; /* ends with a name of NULL */

struct setting_run {
	const struct setting *setting;
	enum sampler_kind sampler;
	uint32_t unit; /* samples */
	uint32_t runs;
	uint32_t epochs; /* that are noted of each job */
	uint64_t seed;
};

/* Runs it; the caller frees ret[].at of each job. -ENOMEM: nothing to be freed. */
must_check int setting_places(
	const struct setting_run *run, struct places ret[RANDOMNESS_JOBS]);

/* --- the program -------------------------------------------------------------------- */

#define RANDOMNESS_MIN_EPOCHS 400
#define RANDOMNESS_MAX_EPOCHS 1000000

struct randomness_options {
	uint32_t epochs; /* of each job in each setting; 0: as many as usual */
	uint64_t seed;
	FILE *csv; /* may be NULL */
};

/* Prints tables. ret_as_claimed: each figure that should be exact is within its bounds.
 */
must_check int randomness_run(
	const struct randomness_options *options, bool *ret_as_claimed);
