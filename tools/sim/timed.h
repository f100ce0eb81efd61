// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "sampler/sampler.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Simulates jobs that take time: the daemon's sampler, cache, epochs and shares (sim_sched.h),
 * with reads, decoders, and readers that think between two files. If more decoders and readers
 * want a processor than there are, each gets an equal part.
 *
 *     reader:  open -> [waits] -> release -> think (a part of it on a processor) -> open ...
 *     sample:  requested -> read (as many at once as make reading faster) -> decoded
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
	double read;   /* seconds to read a sample */
	double decode; /* seconds of processor time to prepare a sample */
	double bytes;  /* size of a prepared sample */
	/* limit of the reads in flight at the start, if timed_world.reads is 0 */
	unsigned most_reads;
	bool absent;
};

/* Samples that exactly these jobs read. Bit i stands for job i. */
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
	/* Number of labels, if scripts choose the label of each file that they open; 0: scripts
	 * open any sample. */
	uint32_t labels;
	double cache; /* bytes of the cache */
	/* reads: limit of the reads in flight; 0: the limit is found by trying, as in the daemon */
	unsigned workers, reads;
	double cpus;
	uint64_t seed;
	unsigned
		laps; /* least number of epochs that each job reads, including the first */
};

struct timed_outcome {
	double epoch;  /* mean seconds of all epochs except the first */
	double waited; /* fraction of these epochs in which a reader waited */
	uint64_t laps;
	double least, most; /* smallest and largest mean of several runs */
};

/* Runs the world until each job has read its epochs. ret: one outcome per job. *ret_loads: prepared
 * samples per read sample. */
must_check int timed_run(
	const struct timed_world *world, struct timed_outcome *ret, double *ret_loads);
/*
 * Computes the means of several runs with different seeds, and with different times between the
 * starts of jobs, because the number of shared samples depends on these times. Jobs that begin
 * together do so in all runs. Worlds with many samples have fewer and shorter runs.
 */
must_check int timed_runs(
	const struct timed_world *world, struct timed_outcome *ret, double *ret_loads);
uint32_t timed_job_samples(const struct timed_world *world, size_t job);
