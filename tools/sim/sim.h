// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/types.h"
#include "config/config.h"

#include <roaring/roaring.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A laboratory for samplers and cache: the daemon's own src/sampler, src/cache, src/epoch
 * and rules of look-ahead (sim_sched.h), with jobs that only count. A sample is one unit
 * of the cache.
 *
 * Time goes in ticks: in a tick the fastest job reads one sample, the others one in some
 * ticks. Without look-ahead, jobs that read in the same tick draw in one round. An *epoch
 * of time* has as many ticks as the largest dataset has samples.
 *
 *   Flow: sim_load makes a scenario of an ini, sim_run runs it once for one sampler,
 *         policy, cache size and seed; sim_sweep for all that the scenario lists.
 *   Threads: a scenario is read only, so runs may go on beside each other.
 *   Errors: -EINVAL (reported), -ENOMEM, and those of files.
 */

/* The ids first .. end-1, or so many of them at random, others in each run. */
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
	size_t dataset;	 /* its index */
	double speed;	 /* relative to the other jobs */
	double start;	 /* epochs of time */
	uint32_t epochs; /* 0: it runs on until the time is over */
};

/* A size of the cache: samples, bytes, or a fraction of the union of the datasets. */
struct sim_size {
	double value;
	bool fraction;
	bool bytes;
};

struct sim_scenario {
	char *name;
	char *title;
	char *note; /* what it shows; may be NULL */
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
	uint32_t labels;     /* id % labels is a sample's; 0: none */
	uint32_t lookahead;  /* samples drawn ahead; 0: read when drawn */
	double sample_bytes; /* of a prepared sample; 0: not known */
	uint32_t runs;	     /* with other seeds each */
	double warmup;	     /* epochs of time that are not counted */
	double length;	     /* epochs of time after it; 0: until all jobs are through */
	uint64_t seed;
};

/* --- scenarios --------------------------------------------------------------------- */

/* So many jobs that read one dataset, begun one after the other within an epoch. */
struct sim_plan {
	uint32_t jobs, samples;
	double sample_bytes; /* 0: not known */
};
must_check int sim_load_plan(const struct sim_plan *plan, struct sim_scenario *ret);
/* What MOUNT/datasets/NAME, a directory of a mount, says of it. Mistakes are told. */
must_check int sim_plan_dataset(const char *directory, struct sim_plan *ret);

/* A built-in one by its name, or an ini by its path. Mistakes go to standard error. */
must_check int sim_load(const char *name_or_path, struct sim_scenario *ret);
/* From text; file is its name in messages. */
must_check int sim_parse(const char *file, const char *text, struct sim_scenario *ret);
/* An option of [scenario] from the command line, instead of what the ini says. */
must_check int sim_override(
	struct sim_scenario *scenario, const char *key, const char *value);
/* What only the whole can tell; after the last override. */
must_check int sim_check(struct sim_scenario *scenario);
void sim_scenario_free(struct sim_scenario *scenario);

/* The built-in ones: their inis, ends with a name of NULL. */
struct sim_builtin {
	const char *name;
	const char *text;
};
extern const struct sim_builtin sim_builtins[];

const char *sim_sampler_name(enum sampler_kind kind);
const char *sim_eviction_name(enum eviction_policy policy);

/* --- one run ----------------------------------------------------------------------- */

/* A job reads a sample. */
struct sim_read {
	uint64_t tick;
	size_t job; /* index in the scenario */
	uint32_t epoch;
	uint32_t position; /* in the epoch: what its script opened */
	sample_id sample;
	bool miss; /* nobody has read it since it was loaded */
};

/* Tells on a terminal how much is done; progress.c. */
struct sim_progress {
	FILE *out;	  /* NULL: nobody looks */
	double all, done; /* samples read */
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
	sim_observer *observer; /* may be NULL; sees also what the warm-up reads */
	void *context;
	struct sim_progress *progress; /* may be NULL */
};

struct sim_result {
	uint32_t capacity; /* samples */
	uint32_t all;	   /* different samples in the datasets: their union */
	uint64_t served;   /* reads after the warm-up */
	uint64_t misses;   /* loads after the warm-up */
};

must_check int sim_run(const struct sim_scenario *scenario, const struct sim_setup *setup,
	struct sim_result *ret);

/* The ids of a dataset, the caller's; the same for the same seed. NULL: no memory. */
roaring_bitmap_t *sim_dataset_ids(
	const struct sim_scenario *scenario, size_t dataset, uint64_t seed);

/* --- all runs of a scenario -------------------------------------------------------- */

struct sim_point {
	double capacity; /* means over the runs */
	double all;
	double served;
	double misses;
	double deviation; /* of misses, from run to run */
};

/* Misses against cache size for one sampler and policy; points in order of the sizes. */
struct sim_curve {
	const struct sim_scenario *scenario;
	enum sampler_kind sampler;
	enum eviction_policy eviction;
	struct sim_point *points;
	size_t n_points;
};

/* scenario->n_samplers * n_evictions curves; freed with sim_curves_free. progress: may be
 * NULL. */
must_check int sim_sweep(const struct sim_scenario *scenario,
	struct sim_progress *progress, struct sim_curve **ret, size_t *ret_n);
void sim_curves_free(struct sim_curve *curves, size_t n);

/* --- large scenarios --------------------------------------------------------------- */

/* Samples that are read in all runs of the scenario. */
double sim_reads(const struct sim_scenario *scenario);
/* Of an epoch of time. */
uint32_t sim_ticks(const struct sim_scenario *scenario);
/* The part of a scenario that answers in seconds: one in so many of its samples. 1: all. */
uint32_t sim_scale_choose(const struct sim_scenario *scenario);
/*
 * One in `scale` samples, of the datasets, the cache, the labels and the look-ahead: the
 * same in proportion. ret has what it needs of its own, and is freed as any.
 */
must_check int sim_scaled(
	const struct sim_scenario *scenario, uint32_t scale, struct sim_scenario *ret);

/* How far a smaller scenario is off, as one of half its size shows. */
struct sim_trust {
	uint32_t scale;	  /* 1: the scenario itself was run */
	uint32_t samples; /* of the largest dataset, in the smaller scenario */
	double off;	  /* misses per sample read by which the two differ at most */
};
/* As sim_sweep, with figures as large as the scenario is. */
must_check int sim_sweep_scaled(const struct sim_scenario *scenario, uint32_t scale,
	FILE *progress, struct sim_curve **ret, size_t *ret_n, struct sim_trust *trust);
