// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "load/flight.h"
#include "sim_sched.h"
#include "timed.h"

/* Shared by the files that run a world (timed.h). */

#define TIMED_READS 128 /* most reads in flight, as in src/supply/storage.c */

enum reader_state { READER_OUT, READER_RUNS, READER_SLEEPS, READER_WAITS };

struct timed_reader {
	size_t job;
	enum reader_state state;
	/* The time when the state ends: for READER_RUNS the processor time, for READER_SLEEPS the
	 * elapsed time. */
	double until;
	struct sim_open open;
};

/* A job while it runs. */
struct timed_script {
	struct sim_sched_job *job;
	roaring_bitmap_t *selection;
	/* of the running epoch: number of samples; index of the next open; number served */
	uint32_t samples, next, served;
	uint32_t epoch;
	uint32_t *labels,
		*opens; /* label of each position, and the order of opens; or NULL */
	/* Time when the next epoch begins; infinite: an epoch is running. */
	double begins;
	double begun;
	unsigned waiting;
	double waits_since, counted_since;
	double waited;		/* seconds in which readers waited in this epoch */
	double sum, sum_waited; /* sums over the epochs that count, in seconds */
	uint64_t laps;
};

struct timed_decoder {
	sample_id sample; /* SAMPLE_NONE: idle */
	double until;	  /* end of the decode, in processor time */
	double since;	  /* time when the decode began, in seconds */
};

struct timed_read {
	sample_id sample;
	double until;
};

struct timed_run {
	const struct timed_world *world;
	struct sim_sched *sched;
	struct rng rng;
	uint32_t n_ids;
	uint64_t *bytes; /* size of each id, in units */
	double unit;	 /* bytes of a unit */
	uint32_t *id_labels;
	uint8_t *first_job; /* for each id: a job that reads it */
	struct timed_script scripts[TIMED_JOBS];
	struct timed_reader *readers;
	size_t n_readers;
	struct timed_decoder *decoders;
	struct timed_read reads[TIMED_READS];
	size_t n_reads;
	sample_id *read; /* samples that wait for a decoder: a ring of n_ids */
	uint32_t read_head, n_read;
	struct flight flight;
	/* now: in seconds; processor: processor seconds that each reader or decoder has had so
	 * far */
	double now, processor;
	double window;
	double decoded; /* seconds that all decoders worked since the shares were last updated */
	uint64_t served;
};

/* --- timed_world.c --- */
must_check int timed_run_new(const struct timed_world *world, struct timed_run **ret);
void timed_run_free(struct timed_run **run);

/* --- timed_script.c: readers --- */
must_check int timed_begin_epoch(struct timed_run *run, size_t job);
/* Makes the reader open its next position, if it has one in this epoch. */
must_check int timed_open_next(struct timed_run *run, struct timed_reader *reader);
/* Gives the sample to the readers that wait for it. */
must_check int timed_give(struct timed_run *run, sample_id sample);
/* Counts the waits of the job until now. */
void timed_count_waits(struct timed_run *run, size_t job);
