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
 * A daemon without a mount. The scheduler, engine, sampler, cache, journal and worker pool are the
 * real ones, over a real catalogue of tiny images. Simulated are: threads and clock (coroutines.c,
 * threads.c), the disk (disk.c), the preparation of images (preparation.c), and the readers
 * (readers.c). model.c remembers what readers were told.
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
	unsigned generation; /* changes with each removal */
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
	unsigned n_readers;	     /* readers that run */
	unsigned n_still;	     /* running readers that only wait for their open */
	bool ending;		     /* readers are leaving */
	unsigned number_of[SAMPLES]; /* by sample: the number in the name of its file */
	/* failures */
	uint32_t bad; /* bits: the numbers of bad files */
	/* one in this many preparations fails for a while; 0: none */
	unsigned passing_in;
	struct counts counts;
};

extern struct simulation simulation;

/* Repeats the call if a site failed in it, since a site fails only once. */
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
/* Notes the sample that a reader was told, or would have been told. Checks that the position never
 * holds another one. */
void model_tell(struct model_job *job, unsigned generation, uint32_t epoch,
	uint32_t position, sample_id sample);
/* Opens all positions of the last epoch while no reader reads, and checks that they hold each
 * sample once. */
void model_check_epoch(struct model_job *job);
void model_validate(void);
void model_check_nothing_held(void);

/* --- readers.c ------------------------------------------------------------------------ */

/* Opens a position for a script that never gives up. */
int reader_open(struct model_job *job, struct sched_job *found, uint32_t epoch,
	uint32_t position, struct sched_handle **ret);
void readers_start(void);
/* Waits until all readers have left, or wait for an answer that only the scheduler's stop gives. */
void readers_wait(void);
void readers_wait_for_all(void);
