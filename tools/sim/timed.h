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
 *     sample:  asked for -> read, as many at once as the storage rewards -> a decoder
 *
 *   Flow: the caller runs a world, changes it, and runs it again.
 *   Threads: a world is read only, so runs may go on beside each other.
 *   Errors: -ENOMEM.
 */

#define TIMED_JOBS 64

struct timed_job {
	unsigned readers;
	double think; /* s between two files of a reader, without waits */
	double cpu;   /* s of `think` on a processor */
	double start; /* s after which the job begins */
	double pause; /* s between the last sample of an epoch and the first of the next */
	double read;  /* s that reading a sample takes */
	double decode;	     /* s of a processor that preparing a sample takes */
	double bytes;	     /* size of a prepared sample */
	unsigned most_reads; /* reads in flight at the start */
	bool absent;
};

/* Samples that exactly these jobs read: bit i is job i. */
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
	/* labels that scripts open one by one; 0: scripts open any sample */
	uint32_t labels;
	double cache;		 /* bytes of the cache */
	unsigned workers, reads; /* reads: reads in flight; 0: found by trying */
	double cpus;
	uint64_t seed;
	unsigned laps; /* least epochs of each job, with the first one */
};

struct timed_outcome {
	double epoch;  /* mean s of all epochs but the first */
	double waited; /* part of these epochs in which a reader waited */
	uint64_t laps;
	double least, most; /* shortest and longest mean of several runs */
};

/* Runs the world until each job has read its epochs. ret: one outcome per job. *ret_loads: how
 * often samples were prepared, per sample read. */
must_check int timed_run(
	const struct timed_world *world, struct timed_outcome *ret, double *ret_loads);
/*
 * Computes the means of several runs, with other seeds and other distances between the beginnings
 * of jobs: the distances decide what jobs share, and do not stay the same for long. Jobs
 * that begin together stay together. Worlds of many samples have fewer and shorter runs.
 */
must_check int timed_runs(
	const struct timed_world *world, struct timed_outcome *ret, double *ret_loads);
/* Returns the samples of the world. timed_job_samples returns those of one job. */
uint32_t timed_samples(const struct timed_world *world);
uint32_t timed_job_samples(const struct timed_world *world, size_t job);
