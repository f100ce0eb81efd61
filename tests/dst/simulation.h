// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/ensure.h"
#include "config/config.h"
#include "coroutines.h"
#include "dataset/dataset.h"
#include "disk.h"
#include "sites.h"

struct sched;
struct sched_handle;
struct sched_job;

/*
 * A daemon without a mount: scheduler, engine, sampler, cache, journal and worker pool as
 * they are, over a real catalogue of tiny images. What is simulated is around them:
 * threads and clock (coroutines.c, threads.c), the disk (disk.c), the preparation of
 * images (preparation.c), and those who read (readers.c). model.c remembers what readers
 * were told.
 */

#define MOST_JOBS 3
#define MOST_EPOCHS 3
#define SAMPLES 12
#define CLASSES 3
#define SIDE 8 /* pixels */

struct model_job {
	char name[16];
	struct job_config config;
	bool there;
	unsigned generation; /* another one after each removal */
	sample_id told[MOST_EPOCHS][SAMPLES];
};

struct counts {
	uint64_t runs, opens, answers, errors, cancelled, refused, crashes, removals,
		epochs, saved, parked, waits, hits;
};

struct simulation {
	struct daemon_config daemon;
	struct dataset_config dataset_config;
	struct dataset *dataset;
	struct sched *sched;
	struct model_job jobs[MOST_JOBS];
	unsigned n_jobs;
	unsigned n_readers;	     /* that run */
	unsigned n_still;	     /* of them, those that only wait for their open */
	bool ending;		     /* readers go */
	unsigned number_of[SAMPLES]; /* in the name of its file, by sample */
	/* what may fail */
	uint32_t bad;	     /* bit: by number of the file */
	unsigned passing_in; /* one of so many preparations, for a while; 0: none */
	struct counts counts;
};

extern struct simulation simulation;

/* What failed once does not fail again. */
#define ONCE_MORE(call)                                                                  \
	({                                                                               \
		bool had_failed_ = sites_have_failed();                                  \
		int status_ = (call);                                                    \
		if (status_ && !had_failed_ && sites_have_failed())                      \
			status_ = (call);                                                \
		status_;                                                                 \
	})

/* --- preparation.c -------------------------------------------------------------------- */

bool is_bad(sample_id sample);
uint8_t shade_of(unsigned number, const struct preparation *preparation);

/* --- model.c -------------------------------------------------------------------------- */

void model_begin(void);
void model_forget(struct model_job *job);
/* A reader was told, or would have been, what a position holds: it can be nothing else. */
void model_tell(struct model_job *job, unsigned generation, uint32_t epoch,
	uint32_t position, sample_id sample);
/* Nobody reads: all positions of the last epoch are opened, and hold each sample once. */
void model_check_epoch(struct model_job *job);
void model_validate(void);
void model_check_nothing_held(void);

/* --- readers.c ------------------------------------------------------------------------ */

/* An open of a script that gives up never. */
int reader_open(struct model_job *job, struct sched_job *found, uint32_t epoch,
	uint32_t position, struct sched_handle **ret);
void readers_start(void);
/* Until all have gone, or wait for what only the end of the scheduler answers. */
void readers_wait(void);
void readers_wait_for_all(void);
