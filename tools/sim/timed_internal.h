// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "load/flight.h"
#include "sim_sched.h"
#include "timed.h"

/* What the files of a world that runs share. */

#define TIMED_READS 128	   /* in flight at most, as in src/supply/storage.c */
#define TIMED_WORKERS 1024 /* decoders at most */

enum reader_state { READER_OUT, READER_RUNS, READER_SLEEPS, READER_WAITS };

struct timed_reader {
	size_t job;
	enum reader_state state;
	double until; /* of one that runs: processor time; of one that sleeps: time */
	struct sim_open open;
};

/* A job while it runs. */
struct timed_script {
	struct sim_sched_job *job;
	roaring_bitmap_t *selection;
	uint32_t samples, next, served; /* of the running epoch */
	uint32_t epoch;
	uint32_t *labels, *opens; /* of each position; the order of opens; or NULL */
	double begins;		  /* the next epoch; infinite: one runs */
	double begun;
	unsigned waiting;
	double waits_since, counted_since;
	double waited;		/* in this epoch */
	double sum, sum_waited; /* of epochs that count */
	uint64_t laps;
};

struct timed_decoder {
	sample_id sample; /* SAMPLE_NONE: idle */
	double until;	  /* processor time */
	double since;	  /* s */
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
	uint64_t *bytes; /* by id, in units */
	double unit;	 /* bytes */
	uint32_t *id_labels;
	uint8_t *first_job; /* by id: one that reads it */
	struct timed_script scripts[TIMED_JOBS];
	struct timed_reader *readers;
	size_t n_readers;
	struct timed_decoder *decoders;
	struct timed_read reads[TIMED_READS];
	size_t n_reads;
	sample_id *read; /* they wait for a decoder: a ring of n_ids */
	uint32_t read_head, n_read;
	struct flight flight;
	double now, processor; /* s; s that each that wants a processor had so far */
	double window;
	double decoded; /* s of all decoders, since the last window */
	uint64_t served;
};

/* --- timed_world.c --- */
must_check int timed_run_new(const struct timed_world *world, struct timed_run **ret);
void timed_run_free(struct timed_run **run);

/* --- timed_script.c: readers --- */
must_check int timed_begin_epoch(struct timed_run *run, size_t job);
/* The reader opens its next position, or has none in this epoch. */
must_check int timed_open_next(struct timed_run *run, struct timed_reader *reader);
/* Those that wait for it have it. */
must_check int timed_give(struct timed_run *run, sample_id sample);
/* Waits until now are counted. */
void timed_count_waits(struct timed_run *run, size_t job);
