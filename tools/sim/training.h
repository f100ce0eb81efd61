// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "share/share.h"

#include <stddef.h>
#include <stdio.h>

/*
 * Simulates the policies of A-Dloader, which give workers to trainings, and compares them with the
 * daemon's shares. Source: Jia et al., "A Data-Loader Tunable Knob to Shorten GPU Idleness for
 * Distributed Deep Learning".
 *
 *     training.c   the model: the speed of trainings and of workers; Tables II and III
 *     workers.c    the paper's policies: how many workers each training has
 *     fluid.c      a run in which rates are constant between events
 *     pool.c       a run image by image, with the daemon's own shares (src/share)
 *     shares.c     the page that joader-sim shares prints
 *
 *   Units: seconds, images, images per second.   Threads: no state.
 */

#define TRAININGS_MOST 8
#define WORKERS 18 /* workers of all trainings together; C in the paper */

/* A row of the paper's Table II or III. */
struct training {
	const char *name;
	double gflops;	   /* per image */
	double parameters; /* millions */
	double batch, iterations;
	unsigned workers; /* number of workers that the training requests */
	double arrival;
	double cost; /* worker time of an image; 1 is the usual time */
};

struct workload {
	const char *name, *title;
	const struct training *trainings;
	size_t n;
	/* number of workers of each training in Table II, by the policies WORKERS_PROPORTION and
	 * WORKERS_INVERSE; NULL: computed from the sizes of the models */
	const unsigned *proportion, *inverse;
};

extern const struct workload workload_static;  /* Table II */
extern const struct workload workload_dynamic; /* Table III */

double training_images(const struct training *training);
/* Returns the images per second that the training's GPUs can consume: B F_mu in the paper, where B
 * is the size of a batch. */
double training_demand(const struct training *training);
/* Returns the images per second that `busy` busy workers deliver together, if images have cost 1:
 * F_lambda in the paper. */
double workers_rate(double busy);
/* Returns the images per second of a training that has all workers. */
double training_alone(const struct training *training);

#define START_SECONDS 14. /* from a training's start to its first image */
#define PAUSE_SECONDS 16. /* length of a pause */
/* seconds by which a new division of the workers may be delayed, so that it handles several
 * arrivals and ends of trainings together */
#define BUFFER_SECONDS 30.

enum worker_policy {
	WORKERS_REQUESTED,
	WORKERS_BALANCE,
	WORKERS_PROPORTION,
	WORKERS_INVERSE,
	WORKERS_WAA,	   /* Algorithm 1 as printed; may take away one worker too many */
	WORKERS_WAA_MENDED /* Algorithm 1 without this mistake (see waa) */
};

/* Returns the number of workers that meet the training's demand while the other workers are busy,
 * too: d' with F_lambda(d') = mu in the paper. */
double workers_needed(const struct training *training);

/* Gives each running training at least one worker, and other trainings none. */
void workers_allocate(enum worker_policy policy, const struct workload *workload,
	const bool *runs, unsigned *ret_workers);

struct workload_outcome {
	double finished[TRAININGS_MOST];
	double makespan;
	/* sum over the trainings of images / (finished - arrival), as in the paper's Fig. 3 */
	double rates;
	double latency;	 /* mean of finished - arrival */
	double idle;	 /* mean time in which the GPUs waited */
	double slowdown; /* largest ratio of a training's latency to its latency alone */
};

/* Computes the fields that are derived from `finished`. */
void outcome_finish(const struct workload *workload, struct workload_outcome *outcome);

/* Runs the trainings with the workers that a policy gives them. pauses: a training whose workers
 * change is paused for PAUSE_SECONDS, and events are buffered for BUFFER_SECONDS. */
void fluid_workers(const struct workload *workload, enum worker_policy policy,
	bool pauses, struct workload_outcome *ret);
/* Runs with the rates that share_grant grants if all demands are known. */
void fluid_granted(const struct workload *workload, enum share_policy policy,
	struct workload_outcome *ret);
/* Runs the trainings with the daemon's own shares, which have to measure the demands. Returns 0 or
 * -ENOMEM. */
must_check int pool_run(const struct workload *workload, enum share_policy policy,
	struct workload_outcome *ret);

/* csv: a path, or NULL. Returns 0 or -errno. */
must_check int shares_print(const char *csv);
