// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "../sim/timed.h"

#include <stdio.h>

/* What the files of explain share. Times are in seconds. */

#define EXPLAIN_NAME 80
#define EXPLAIN_LAPS 12
#define EXPLAIN_CAUSES 4
#define EXPLAIN_TRUSTED .2 /* more that the simulation is off is too much */

/* A job, as its last epoch was. */
struct explain_job {
	char name[EXPLAIN_NAME], dataset[EXPLAIN_NAME];
	double laps, epoch, samples, readers, lookahead;
	double first, last;	  /* times of opens */
	double ended;		  /* the latest lap */
	double lap[EXPLAIN_LAPS]; /* the latest first */
	double lap_waited[EXPLAIN_LAPS];
	double seconds; /* of an epoch, in the mean of those beside the same jobs */
	double waited[EXPLAIN_CAUSES]; /* in the last one */
	double waited_all;	       /* by all readers together, likewise */
	double decoded, shared, hit;
	double read, decode; /* of a sample; decode: on a processor */
	double cpu, cpu_samples, pause;
	double drawn, labels, bytes, sampler, most_reads, tier;
	bool left_out; /* it does not read, or did not read an epoch to its end */
};

/* What the daemon says. */
struct explain_facts {
	struct explain_job jobs[TIMED_JOBS];
	size_t n_jobs;
	struct timed_part *parts;
	size_t n_parts;
	double cache, workers, reads, eviction, share, cpu, served;
	double decode_cpu; /* of all datasets */
	double cpus;
};

/* Asks the daemon. false: told. */
must_check bool explain_ask(const char *socket_path, struct explain_facts *ret);
void explain_facts_free(struct explain_facts *facts);

/* --- what would be --- */

#define EXPLAIN_CHANGES 16
#define EXPLAIN_TEXT 64

struct explain_change {
	char key[EXPLAIN_TEXT];	 /* cache, sampler ... */
	char text[EXPLAIN_TEXT]; /* cache = 8G */
	/* Of an epoch of each job, as predicted: in the mean, and of the shortest and the
	 * longest run. */
	double seconds[TIMED_JOBS], least[TIMED_JOBS], most[TIMED_JOBS];
};

struct explain_answer {
	struct timed_job jobs[TIMED_JOBS];	    /* as they are simulated */
	struct timed_outcome simulated[TIMED_JOBS]; /* as it is */
	double factor[TIMED_JOBS]; /* of what is simulated: what is predicted */
	double loads, scale;
	struct explain_change changes[EXPLAIN_CHANGES];
	size_t n_changes;
	double alone[TIMED_JOBS];
};

must_check int explain_simulate(
	const struct explain_facts *facts, struct explain_answer *ret);
/* What a simulated time is multiplied with: what was measured beyond the range of the runs.
 * Within it, chance is reason enough. */
double explain_factor(
	const struct explain_job *job, const struct timed_outcome *simulated);
/* A part. */
double explain_off(const struct explain_job *job, const struct timed_outcome *simulated);

/* --- --plan --- */

#define EXPLAIN_PLANS 12

struct explain_plan {
	unsigned jobs;
	struct {
		double cache, part, seconds, loads;
		enum sampler_kind sampler;
	} rows[EXPLAIN_PLANS];
	size_t n_rows, best; /* the row that is recommended */
};

/* So many jobs as this one, begun one after the other within an epoch. */
must_check int explain_plan(const struct explain_facts *facts, size_t job, unsigned n,
	struct explain_plan *ret);

/* --- what is printed --- */
/* job: n_jobs for all. */
void explain_print(FILE *out, const struct explain_facts *facts,
	const struct explain_answer *answer, size_t job);
void explain_print_json(FILE *out, const struct explain_facts *facts,
	const struct explain_answer *answer, size_t job);
void explain_print_plan(FILE *out, const struct explain_facts *facts, size_t job,
	const struct explain_plan *plan);
void explain_print_plan_json(FILE *out, const struct explain_facts *facts, size_t job,
	const struct explain_plan *plan);
