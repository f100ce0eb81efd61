// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "training.h"

#include <math.h>

/* Runs trainings whose rates change only at events. One kind of event: a training arrives, starts,
 * finishes, or continues after a pause. The other kind: the allocator of A-Dloader, which gives
 * workers to trainings (training.h), divides all workers anew. The allocator may wait
 * BUFFER_SECONDS after an arrival or an end, and so handle several of them together. */

struct run {
	const struct workload *workload;
	double now;
	double left[TRAININGS_MOST];
	double busy_until[TRAININGS_MOST]; /* end of the training's start or pause */
	bool runs[TRAININGS_MOST];
	unsigned workers[TRAININGS_MOST];
	double rates[TRAININGS_MOST];
	/* time when the allocator handles the buffered events; infinite: there are none */
	double look_at;
	struct workload_outcome *outcome;
};

static void run_init(struct run *run, const struct workload *workload,
	struct workload_outcome *outcome)
{
	*run = (struct run){
		.workload = workload, .look_at = HUGE_VAL, .outcome = outcome};
	for (size_t i = 0; i < workload->n; i++)
		run->left[i] = training_images(&workload->trainings[i]);
}

static bool is_through(const struct run *run, size_t i)
{
	return run->left[i] <= 1e-6;
}

static bool is_taking(const struct run *run, size_t i)
{
	return run->runs[i] && run->busy_until[i] <= run->now + 1e-9;
}

/* Tells whether the training has arrived or finished since the allocator last ran. */
static bool is_news(const struct run *run, size_t i)
{
	bool has_come = run->workload->trainings[i].arrival <= run->now;
	bool should_run = has_come && !is_through(run, i);
	return should_run != run->runs[i];
}

static void take_news(struct run *run)
{
	for (size_t i = 0; i < run->workload->n; i++) {
		if (!is_news(run, i))
			continue;
		run->runs[i] = !run->runs[i];
		if (run->runs[i])
			run->busy_until[i] = run->now + START_SECONDS;
	}
	run->look_at = HUGE_VAL;
}

/* Returns the mean number of busy workers, if a busy worker delivers `each` images per second at
 * cost 1. A worker is idle while the queue to the GPUs of its training is full. */
static double count_busy(const struct run *run, double each)
{
	double busy = 0;
	for (size_t i = 0; i < run->workload->n; i++) {
		const struct training *training = &run->workload->trainings[i];
		if (is_taking(run, i))
			busy += fmin(run->workers[i],
				training_demand(training) * training->cost / each);
	}
	return busy;
}

/* Finds the images per second of a worker by bisection, because this rate and the number of busy
 * workers determine each other. */
static double rate_of_a_worker(const struct run *run)
{
	double low = 1, high = workers_rate(1);
	for (int i = 0; i < 60; i++) {
		double each = (low + high) / 2, busy = fmax(count_busy(run, each), 1);
		if (workers_rate(busy) / busy > each)
			low = each;
		else
			high = each;
	}
	return low;
}

static void rates_by_workers(struct run *run)
{
	double each = rate_of_a_worker(run);
	for (size_t i = 0; i < run->workload->n; i++) {
		const struct training *training = &run->workload->trainings[i];
		run->rates[i] = is_taking(run, i)
					? fmin(run->workers[i] * each / training->cost,
						  training_demand(training))
					: 0;
	}
}

static void rates_by_grant(struct run *run, enum share_policy policy)
{
	struct share_claim claims[TRAININGS_MOST];
	double rates[TRAININGS_MOST];
	size_t n = 0;
	for (size_t i = 0; i < run->workload->n; i++)
		if (is_taking(run, i))
			claims[n++] = (struct share_claim){.weight = 1,
				.cost = run->workload->trainings[i].cost,
				.demand = training_demand(&run->workload->trainings[i])};
	share_grant(policy, claims, n, workers_rate(WORKERS), rates);
	n = 0;
	for (size_t i = 0; i < run->workload->n; i++)
		run->rates[i] = is_taking(run, i) ? rates[n++] : 0;
}

static double next_event(const struct run *run)
{
	double next = run->look_at;
	for (size_t i = 0; i < run->workload->n; i++) {
		double arrival = run->workload->trainings[i].arrival;
		if (arrival > run->now)
			next = fmin(next, arrival);
		if (run->runs[i] && !is_taking(run, i))
			next = fmin(next, run->busy_until[i]);
		if (run->rates[i] > 0 && !is_through(run, i))
			next = fmin(next, run->now + run->left[i] / run->rates[i]);
	}
	return next;
}

static void advance(struct run *run, double until)
{
	for (size_t i = 0; i < run->workload->n; i++) {
		bool before = is_through(run, i);
		run->left[i] -= run->rates[i] * (until - run->now);
		if (!before && is_through(run, i)) {
			run->left[i] = 0;
			run->outcome->finished[i] = until;
		}
	}
	run->now = until;
}

static bool any_news(const struct run *run)
{
	for (size_t i = 0; i < run->workload->n; i++)
		if (is_news(run, i))
			return true;
	return false;
}

static bool all_through(const struct run *run)
{
	for (size_t i = 0; i < run->workload->n; i++)
		if (!is_through(run, i))
			return false;
	return true;
}

/* Divides the workers among the trainings anew. If `pauses` is set, each running training whose
 * number of workers changes is paused. */
static void reallocate(struct run *run, enum worker_policy policy, bool pauses)
{
	unsigned before[TRAININGS_MOST] = {0};
	for (size_t i = 0; i < run->workload->n; i++)
		before[i] = run->workers[i];
	workers_allocate(policy, run->workload, run->runs, run->workers);
	for (size_t i = 0; pauses && i < run->workload->n; i++)
		if (is_taking(run, i) && before[i] != run->workers[i])
			run->busy_until[i] = run->now + PAUSE_SECONDS;
}

void fluid_workers(const struct workload *workload, enum worker_policy policy,
	bool pauses, struct workload_outcome *ret)
{
	struct run run;
	run_init(&run, workload, ret);
	while (!all_through(&run)) {
		/* The first arrival is not buffered, because it disturbs no training. */
		if (any_news(&run) && run.look_at == HUGE_VAL)
			run.look_at =
				run.now + (pauses && run.now > 0 ? BUFFER_SECONDS : 0);
		if (run.look_at <= run.now) {
			take_news(&run);
			reallocate(&run, policy, pauses);
		}
		rates_by_workers(&run);
		advance(&run, next_event(&run));
	}
	outcome_finish(workload, ret);
}

void fluid_granted(const struct workload *workload, enum share_policy policy,
	struct workload_outcome *ret)
{
	struct run run;
	run_init(&run, workload, ret);
	while (!all_through(&run)) {
		take_news(&run);
		rates_by_grant(&run, policy);
		advance(&run, next_event(&run));
	}
	outcome_finish(workload, ret);
}
