// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "sampler/sampler.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Simulates jobs that take time: the daemon's sampler, cache, epochs and shares (sim_sched.h), with
 * reads, decoders, and readers that think between two files. If more decoders and readers want a
 * processor than there are processors, each of them gets an equal part.
 *
 *     reader:  open -> [waits] -> release -> think (a part of it on a processor) -> open ...
 *     sample:  requested -> read (several at once, up to a limit) -> decoded
 *
 *   Flow: the caller runs a world, changes it, and runs it again.
 *   Threads: runs only read the world, so several may run at the same time.
 *   Errors: -ENOMEM.
 */

#define TIMED_JOBS 64

struct timed_job {
	unsigned readers;
	double think; /* seconds between two files of a reader, without waits */
	double cpu;   /* seconds of `think` on a processor */
	double start; /* seconds after which the job begins */
	/* seconds between the last sample of an epoch and the first of the next */
	double pause;
	double read;   /* seconds per sample */
	double decode; /* processor seconds per sample */
	double bytes;  /* size of a prepared sample */
	/* initial limit of reads in flight, if timed_world.reads is 0; only that of jobs[0] counts */
	unsigned most_reads;
	bool absent;
};

/* Samples that exactly these jobs read. Bit i is job i. */
struct timed_part {
	uint64_t jobs;
	uint32_t samples;
};

struct timed_world {
	struct timed_job *jobs;
	size_t n_jobs;
	struct timed_part *parts;
	size_t n_parts;
	enum sampler_kind sampler;
	enum eviction_policy eviction;
	enum share_policy share;
	uint32_t lookahead;
	/* number of labels, if scripts choose the label of each file that they open; otherwise 0 */
	uint32_t labels;
	double cache; /* bytes */
	/* workers: number of decoders
	 * reads: most reads in flight; 0: the best number is found by trying, as in the daemon */
	unsigned workers, reads;
	double cpus;
	uint64_t seed;
	unsigned laps; /* epochs of each job, with the first one; see timed_run */
};

struct timed_outcome {
	double epoch; /* mean seconds of all epochs except the first */
	uint64_t laps;
	double least, most; /* the extremes of the means of several runs */
};

/* Runs the world until each job has read `laps` epochs. Ends earlier if each job has read two
 * epochs, and all jobs together have read 60 times as many samples as there are. ret: one outcome
 * per job. *ret_loads: loads per read sample. */
must_check int timed_run(
	const struct timed_world *world, struct timed_outcome *ret, double *ret_loads);
/* Runs the world several times, and computes means; ret[].laps is a sum. Each run has its own seed,
 * and its own times between the starts of jobs, because the number of shared samples depends on
 * these times. A job with start = 0 begins at 0 in all runs. Worlds with many samples have fewer
 * and shorter runs. world->laps is not used. */
must_check int timed_runs(
	const struct timed_world *world, struct timed_outcome *ret, double *ret_loads);
uint32_t timed_job_samples(const struct timed_world *world, size_t job);
