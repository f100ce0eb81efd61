// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "training.h"

#include <math.h>

/*
 * The model of the paper that training.h names. Numbers in brackets refer to this paper. The paper
 * fits its functions F_mu and F_lambda by regressions, and does not print the coefficients. The
 * following coefficients are the simplest ones that give the figures in the paper's text:
 *
 *   F_mu (6): a batch takes 89.6 ms, plus .408 ms per image and GFLOP. Resnet18 then needs
 *       8 workers, mdResnet12 and smResnet20 need 14 each; WAA reduces these numbers to
 *       (2, 8, 8), as in Fig. 7.
 *   F_lambda (7): each of up to 11 workers (Fig. 5) delivers 139 images/s (10 workers:
 *       1391 images/s, IV.D); 18 workers together deliver 1660 (Fig. 3, balance); more than
 *       24 workers deliver no more than 24.
 *   A start takes 14 s: with balance, a training of Table II takes 130 s, of which 64000
 *       images at a third of 1660/s take 116. A pause takes 16 s (IV.B).
 *   An image of VGG13 costs a worker 2.13 times as much as an image of another training. So
 *       VGG13 ends at 1200 s with the two workers that it requests (Fig. 8), and four are
 *       enough for it (IV.C).
 */
#define BATCH_SECONDS .0896
#define GFLOP_SECONDS .000408
#define WORKER_RATE 139.
#define FREE_WORKERS 11.
#define MOST_WORKERS 24.
#define RATE_OF_18 1660.

static const struct training of_table_2[] = {
	{"Resnet18", 1.8, 11.7, 128, 500, 6, 0, 1},
	{"mdResnet12", .3, 1.8, 128, 500, 6, 0, 1},
	{"smResnet20", .2, .9, 128, 500, 6, 0, 1},
};
static const unsigned proportion_2[] = {12, 4, 2}, inverse_2[] = {2, 4, 12};

const struct workload workload_static = {"table-2",
	"Table II: three trainings that begin together", of_table_2, 3, proportion_2,
	inverse_2};

static const struct training of_table_3[] = {
	{"mdResnet20", .5, 3.4, 128, 1000, 6, 0, 1},
	{"smResnet22", .2, 1.2, 128, 1000, 6, 0, 1},
	{"Resnet32", 3.4, 21.5, 128, 1500, 6, 120, 1},
	{"VGG13", 11, 9.9, 64, 1500, 2, 420, 2.13},
	{"mdResnet12", .3, 1.8, 128, 500, 6, 420, 1},
	{"smResnet32", .2, 1.4, 128, 500, 4, 420, 1},
	{"Resnet28", 3, 19, 64, 1000, 6, 800, 1},
	{"smVGG7", 1.4, 2.4, 64, 1500, 4, 800, 1},
};

const struct workload workload_dynamic = {"table-3",
	"Table III: eight trainings that come and go", of_table_3, 8, NULL, NULL};

double training_images(const struct training *training)
{
	return training->batch * training->iterations;
}

double training_demand(const struct training *training)
{
	return training->batch /
	       (BATCH_SECONDS + GFLOP_SECONDS * training->batch * training->gflops);
}

double workers_rate(double busy)
{
	double beyond = fmin(busy, MOST_WORKERS) - FREE_WORKERS;
	double most = WORKER_RATE * FREE_WORKERS;
	double slope = (RATE_OF_18 - most) / (WORKERS - FREE_WORKERS);
	return beyond < 0 ? WORKER_RATE * busy : most + slope * beyond;
}

double training_alone(const struct training *training)
{
	return fmin(training_demand(training), RATE_OF_18 / training->cost);
}

void outcome_finish(const struct workload *workload, struct workload_outcome *outcome)
{
	outcome->makespan = outcome->rates = outcome->latency = 0;
	outcome->idle = outcome->slowdown = 0;
	for (size_t i = 0; i < workload->n; i++) {
		const struct training *training = &workload->trainings[i];
		double images = training_images(training);
		double latency = outcome->finished[i] - training->arrival;
		double alone = START_SECONDS + images / training_alone(training);
		outcome->makespan = fmax(outcome->makespan, outcome->finished[i]);
		outcome->rates += images / latency;
		outcome->latency += latency / (double)workload->n;
		outcome->idle += (latency - images / training_demand(training)) /
				 (double)workload->n;
		outcome->slowdown = fmax(outcome->slowdown, latency / alone);
	}
}
