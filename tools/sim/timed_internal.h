// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "load/flight.h"
#include "sim_sched.h"
#include "timed.h"

/* most reads in flight; less than STORAGE_MOST_READS of the daemon */
#define TIMED_READS 128

enum reader_state { READER_OUT, READER_RUNS, READER_SLEEPS, READER_WAITS };

struct timed_reader {
	size_t job;
	enum reader_state state;
	/* time when the state ends: in READER_RUNS by the clock timed_run.processor, in
	 * READER_SLEEPS by timed_run.now */
	double until;
	struct sim_open open;
};

struct timed_script {
	struct sim_sched_job *job;
	roaring_bitmap_t *selection;
	/* samples: number of samples of an epoch
	 * next: index of the next open in this epoch
	 * served: number of samples given to readers in this epoch */
	uint32_t samples, next, served;
	uint32_t epoch;
	/* label of each position, and order of opens; NULL: the script chooses no labels */
	uint32_t *labels, *opens;
	/* time when the next epoch begins; infinite: an epoch is running, or the job never begins */
	double begins;
	double begun;
	unsigned waiting;
	double counted_since;
	double sum; /* seconds of the epochs that count */
	uint64_t laps;
};

struct timed_decoder {
	sample_id sample; /* SAMPLE_NONE: idle */
	double until;	  /* end of the decode, by the clock timed_run.processor */
	double since;	  /* begin of the decode, by the clock timed_run.now */
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
	uint64_t *bytes; /* size of each sample, in units of `unit` bytes */
	double unit;
	uint32_t *id_labels;
	uint8_t *first_job; /* for each id: a job that reads it */
	struct timed_script scripts[TIMED_JOBS];
	struct timed_reader *readers;
	size_t n_readers;
	struct timed_decoder *decoders;
	struct timed_read reads[TIMED_READS];
	size_t n_reads;
	/* ring of the samples that wait for a decoder; has room for n_ids */
	sample_id *read;
	uint32_t read_head, n_read;
	struct flight flight;
	/* now: seconds since the start of the run
	 * processor: the processor seconds of a reader or decoder that has wanted a processor since
	 * the start of the run; grows slower than `now` while there are too few processors */
	double now, processor;
	double window;
	double decoded; /* seconds of all decoders since the shares were last updated */
	uint64_t served;
};

must_check int timed_run_new(const struct timed_world *world, struct timed_run **ret);
void timed_run_free(struct timed_run **run);

must_check int timed_begin_epoch(struct timed_run *run, size_t job);
/* Opens the job's next position for the reader. Sets READER_OUT instead if the epoch has no further
 * position, or if the next epoch has not begun. */
must_check int timed_open_next(struct timed_run *run, struct timed_reader *reader);
/* Answers the readers that wait for the sample. */
must_check int timed_give(struct timed_run *run, sample_id sample);
void timed_count_waits(struct timed_run *run, size_t job);
