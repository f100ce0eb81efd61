// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/bitmap.h"
#include "base/cleanup.h"
#include "base/types.h"
#include "config/config.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Simulates jobs with the daemon's own samplers, cache, epochs and rules of look-ahead
 * (sim_sched.h). Reads are only counted. A sample is one unit of the cache.
 *
 * Time is counted in ticks. The fastest job reads one sample per tick. Jobs that read in the same
 * tick draw in one round, unless there is look-ahead, or scripts shuffle (sim_scenario.labels). An
 * *epoch of time* has as many ticks as the largest dataset has samples.
 *
 *   Flow: sim_load makes a scenario from an ini; sim_run runs it once with one sampler, policy,
 *         cache size and seed; sim_sweep runs all combinations.
 *   Threads: runs only read the scenario, so several may run at the same time.
 *   Errors: -EINVAL (reported: printed to stderr), -ENOMEM, and errors of files.
 */

/* A dataset has the ids first .. end-1. But if `sample` is set, it has only `size` of these ids,
 * which each run chooses at random. */
struct sim_dataset {
	char *name;
	bool sample;
	uint32_t first;
	uint32_t end;
	uint32_t size;
};

struct sim_job {
	char *name;
	char *dataset_name;
	size_t dataset;	 /* index in the scenario */
	double speed;	 /* relative to the other jobs */
	double start;	 /* in epochs of time */
	uint32_t epochs; /* 0: the job runs until the time is over */
};

/* A size of the cache: in samples, in bytes, or as a fraction (above 0, at most 1) of the different
 * samples that the jobs read. */
struct sim_size {
	double value;
	bool fraction;
	bool bytes;
};

struct sim_scenario {
	char *name;
	char *title;
	char *note; /* may be NULL */
	enum sampler_kind *samplers;
	size_t n_samplers;
	enum eviction_policy *evictions;
	size_t n_evictions;
	struct sim_size *caches;
	size_t n_caches;
	struct sim_dataset *datasets;
	size_t n_datasets;
	struct sim_job *jobs;
	size_t n_jobs;
	/* The label of a sample is id % labels; 0: no labels. Labels matter only with the sampler
	 * exchange: scripts open positions in random order, and each position gets a sample of its
	 * label. */
	uint32_t labels;
	uint32_t lookahead;  /* samples drawn ahead; 0: samples are drawn when read */
	double sample_bytes; /* size of a prepared sample; 0: not known */
	uint32_t runs;	     /* number of runs with different seeds */
	double warmup;	     /* epochs of time at the start that are not counted */
	double length; /* epochs of time after the warm-up; 0: until all jobs have finished */
	uint64_t seed;
};

/* Equal jobs that read one dataset, and begin one after another within an epoch. */
struct sim_plan {
	uint32_t jobs, samples;
	double sample_bytes; /* 0: not known */
};
must_check int sim_load_plan(const struct sim_plan *plan, struct sim_scenario *ret);
/* Reads the bytes of a prepared sample and, if ret->samples is 0, the number of samples. Both are
 * in `directory`, which is MOUNT/datasets/NAME. Reports mistakes. */
must_check int sim_plan_dataset(const char *directory, struct sim_plan *ret);

/* Loads a built-in scenario by its name, or an ini by its path. Reports mistakes. */
must_check int sim_load(const char *name_or_path, struct sim_scenario *ret);
/* Parses the text of an ini. `file` is the ini's name in messages. */
must_check int sim_parse(const char *file, const char *text, struct sim_scenario *ret);
/* Replaces a value of the ini's [scenario] by one from the command line. */
must_check int sim_override(
	struct sim_scenario *scenario, const char *key, const char *value);
/* Checks rules about several options, after the last override. */
must_check int sim_check(struct sim_scenario *scenario);
void sim_scenario_free(struct sim_scenario *scenario);

/* The last built-in scenario has the name NULL. */
struct sim_builtin {
	const char *name;
	const char *text;
};
extern const struct sim_builtin sim_builtins[];

const char *sim_sampler_name(enum sampler_kind kind);
const char *sim_eviction_name(enum eviction_policy policy);

struct sim_read {
	uint64_t tick;
	size_t job; /* index in the scenario */
	uint32_t epoch;
	uint32_t position; /* position that the script opened in this epoch */
	sample_id sample;
	bool miss; /* this is the first read of the sample since it was loaded */
};

/* Shows the progress on a terminal. */
struct sim_progress {
	FILE *out; /* NULL: no progress is shown */
	/* all: number of samples that will be read
	 * done: number of samples read so far */
	double all, done;
	uint64_t begun_ns, told_ns;
};
void sim_progress_begin(struct sim_progress *progress, FILE *out, double all);
void sim_progress_add(struct sim_progress *progress, size_t n);
void sim_progress_end(struct sim_progress *progress);

typedef void sim_observer(void *context, const struct sim_read *read);

struct sim_setup {
	enum sampler_kind sampler;
	enum eviction_policy eviction;
	struct sim_size cache;
	uint64_t seed;
	sim_observer *observer; /* also called for reads in the warm-up; may be NULL */
	void *context;
	struct sim_progress *progress; /* may be NULL */
};

struct sim_result {
	uint32_t capacity; /* samples */
	uint32_t all;	   /* number of different samples that the jobs read */
	uint64_t served;   /* reads after the warm-up */
	uint64_t misses;   /* loads after the warm-up */
};

must_check int sim_run(const struct sim_scenario *scenario, const struct sim_setup *setup,
	struct sim_result *ret);

/* Returns a dataset's ids, which the caller frees; NULL: no memory. Equal seeds give equal ids. */
roaring_bitmap_t *sim_dataset_ids(
	const struct sim_scenario *scenario, size_t dataset, uint64_t seed);

struct sim_point {
	/* the members from `capacity` to `misses` are means over the runs */
	double capacity;
	double all;
	double served;
	double misses;
	double deviation; /* standard deviation of the misses between runs */
};

/* The misses by cache size, for one sampler and policy. points[i] is for scenario->caches[i]. */
struct sim_curve {
	const struct sim_scenario *scenario;
	enum sampler_kind sampler;
	enum eviction_policy eviction;
	struct sim_point *points;
	size_t n_points;
};

/* Makes a curve for each pair of a sampler and a policy of the scenario. sim_curves_free frees the
 * curves. progress may be NULL. */
must_check int sim_sweep(const struct sim_scenario *scenario,
	struct sim_progress *progress, struct sim_curve **ret, size_t *ret_n);
void sim_curves_free(struct sim_curve *curves, size_t n);

/* Returns the ticks of an epoch of time. */
uint32_t sim_ticks(const struct sim_scenario *scenario);
/* Returns a scale with which the scenario takes only seconds. Scale n: one in n samples is used. */
uint32_t sim_scale_choose(const struct sim_scenario *scenario);
/* Makes a scenario with one in `scale` samples: datasets, cache, labels and look-ahead shrink in
 * proportion. The caller frees it by sim_scenario_free. */
must_check int sim_scaled(
	const struct sim_scenario *scenario, uint32_t scale, struct sim_scenario *ret);

/* Estimated error of a scaled-down scenario: its difference from a scenario of half its size. */
struct sim_trust {
	uint32_t scale;	  /* 1: the whole scenario was run */
	uint32_t samples; /* samples of the scaled-down scenario's largest dataset */
	double off; /* largest difference between the two scenarios, in misses per read sample */
};
/* Runs sim_sweep with the scaled-down scenario, and scales the figures up. Runs a scenario of half
 * this size, too, if scale is not 1, to estimate the error. progress: a terminal, or NULL. */
must_check int sim_sweep_scaled(const struct sim_scenario *scenario, uint32_t scale,
	FILE *progress, struct sim_curve **ret, size_t *ret_n, struct sim_trust *trust);
