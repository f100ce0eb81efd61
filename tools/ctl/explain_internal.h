// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "../sim/timed.h"

#include <stdio.h>

/* Times are in seconds. */

#define EXPLAIN_NAME 80
#define EXPLAIN_LAPS 12
#define EXPLAIN_CAUSES 4
#define EXPLAIN_TRUSTED .2 /* largest relative error of a simulation that is trusted */

struct explain_job {
	char name[EXPLAIN_NAME], dataset[EXPLAIN_NAME];
	double laps, epoch, samples, readers, lookahead;
	double first, last; /* times of the job's first open and last consumed sample */
	double ended;	    /* end of the latest epoch */
	double lap[EXPLAIN_LAPS]; /* durations of epochs, the latest first */
	double lap_waited[EXPLAIN_LAPS];
	/* mean duration of the latest epoch and of earlier epochs. An earlier epoch counts if it is
	 * not the job's first one, and all jobs without `left_out` were reading during it. */
	double seconds;
	/* waits in the latest epoch, by cause. Readers that wait for tensors at the same time count
	 * once; for the cause file system the times of all readers are added up. */
	double waited[EXPLAIN_CAUSES];
	/* waits of all readers in an epoch, added up; the mean over the same epochs as `seconds` */
	double waited_all;
	double decoded, shared, hit;
	/* read: seconds to read a sample
	 * decode: processor seconds to decode a sample */
	double read, decode;
	double cpu, cpu_samples, pause;
	double drawn, labels, bytes, sampler, most_reads, tier;
	bool small_files; /* opening a file takes longer than preparing its sample */
	bool left_out;	  /* the job has not completed an epoch, or is not reading now */
};

struct explain_facts {
	struct explain_job jobs[TIMED_JOBS];
	size_t n_jobs;
	struct timed_part *parts;
	size_t n_parts, part_room;
	double cache, workers, reads, eviction, share, cpu, served;
	double decode_cpu; /* processor time of all decodes */
	double cpus;
};

/* Asks the daemon. Returns false after a failure; the reason was printed. */
must_check bool explain_ask(const char *socket_path, struct explain_facts *ret);
void explain_facts_free(struct explain_facts *facts);

#define EXPLAIN_CHANGES 16
#define EXPLAIN_TEXT 64

struct explain_change {
	char key[EXPLAIN_TEXT];	 /* such as "cache/2" */
	char text[EXPLAIN_TEXT]; /* such as "cache = 8G" */
	/* the predicted time of an epoch of each job, from several simulated runs:
	 * seconds: the mean of the runs
	 * least, most: the shortest and the longest run */
	double seconds[TIMED_JOBS], least[TIMED_JOBS], most[TIMED_JOBS];
};

struct explain_answer {
	struct timed_job jobs[TIMED_JOBS]; /* the jobs as the simulation needs them */
	/* result of the simulation without changes */
	struct timed_outcome simulated[TIMED_JOBS];
	/* factor by which a simulated time is multiplied to predict the real time */
	double factor[TIMED_JOBS];
	double loads, scale;
	struct explain_change changes[EXPLAIN_CHANGES];
	size_t n_changes;
	double alone[TIMED_JOBS];
};

must_check int explain_simulate(
	const struct explain_facts *facts, struct explain_answer *ret);
/* Returns the factor by which a job's simulated times are multiplied to predict real times. The
 * factor is 1 if the measured time is within the range of the simulated runs, because chance alone
 * can then explain the difference. */
double explain_factor(
	const struct explain_job *job, const struct timed_outcome *simulated);
/* Returns the relative error of the simulated time: 0 if it equals the measured time. */
double explain_off(const struct explain_job *job, const struct timed_outcome *simulated);

#define EXPLAIN_PLANS 12

struct explain_plan {
	unsigned jobs;
	struct {
		double cache, part, seconds, loads;
		enum sampler_kind sampler;
	} rows[EXPLAIN_PLANS];
	size_t n_rows, best; /* best: index of the recommended row */
};

/* Simulates n jobs like job number `job`, which begin one after another within an epoch. */
must_check int explain_plan(const struct explain_facts *facts, size_t job, unsigned n,
	struct explain_plan *ret);

/* Prints job number `job`, or all jobs if `job` is n_jobs. */
void explain_print(FILE *out, const struct explain_facts *facts,
	const struct explain_answer *answer, size_t job);
void explain_print_json(FILE *out, const struct explain_facts *facts,
	const struct explain_answer *answer, size_t job);
void explain_print_plan(FILE *out, const struct explain_facts *facts, size_t job,
	const struct explain_plan *plan);
void explain_print_plan_json(FILE *out, const struct explain_facts *facts, size_t job,
	const struct explain_plan *plan);
