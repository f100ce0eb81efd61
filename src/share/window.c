// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "share/share_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* The need of a job whose readers never idle can't be measured: readers that fetch ahead take all
 * available samples until they have enough. So such jobs are *probed*, one at a time: the probed
 * job gets most of the decode time for at most PROBE_WINDOWS windows. If the job's readers idle
 * then, its need is known. */

/* part of a round that is divided by weight, whatever jobs need */
#define LEAST_PART .02
/* The least cost of a sample, in seconds, by which the time of decoders is divided. The measured
 * cost is 0 if all samples of the job were decoded for other jobs. */
#define LEAST_COST 1e-9

/* decoders are short if more than this part of their time is used */
#define SHORT_PART .75

#define PROBE_PART                                                                       \
	.75 /* part of all decode time that a probed job gets (a job whose need is being measured) */
#define PROBE_WINDOWS 3 /* a probe's longest duration, in windows */
#define REST_WINDOWS 60 /* the fewest windows from a job's probe to its next one */

static double sum_of_weights(const struct shares *shares)
{
	const struct share_job *job;
	double sum = 0;
	TAILQ_FOREACH (job, &shares->jobs, link)
		sum += job->weight;
	return sum;
}

/* Sets the job's quantum to `part` times SHARE_ROUND_NS. The least quantum is the job's share, by
 * weight, in LEAST_PART of SHARE_ROUND_NS. */
static void set_quantum(struct share_job *job, double part)
{
	double least = LEAST_PART * job->weight / sum_of_weights(job->shares);
	job->own.quantum = (int64_t)ceil(SHARE_ROUND_NS * fmax(part, least));
	if (job->own.deficit > job->own.quantum)
		job->own.deficit = job->own.quantum;
}

void share_make_place(struct share_job *newcomer)
{
	struct shares *shares = newcomer->shares;
	struct share_job *job;
	double others = sum_of_weights(shares) - newcomer->weight, sum = 0;
	newcomer->own.quantum = 0;
	TAILQ_FOREACH (job, &shares->jobs, link)
		sum += (double)job->own.quantum;
	double own = others > 0 ? sum * newcomer->weight / others : SHARE_ROUND_NS;
	TAILQ_FOREACH (job, &shares->jobs, link)
		set_quantum(job,
			(job == newcomer ? own : (double)job->own.quantum) / (sum + own));
}

static bool was_idle(const struct share_job *job)
{
	return job->samples == 0 && job->waited_ns == 0;
}

/* Measures the job's rate and cost in the last window, and updates its estimated demand. job->cost
 * moves only halfway to the measured cost, because measured costs vary. */
static void measure(struct share_job *job, double seconds, double decoders)
{
	double samples = (double)job->samples;
	job->rate = samples / seconds;
	if (job->samples > 0)
		job->cost =
			(job->cost + (double)job->charged_ns / SHARE_NS / samples) / 2;
	struct share_window window = {.seconds = seconds,
		.waited = (double)job->waited_ns / SHARE_NS,
		.samples = samples,
		.most = decoders / fmax(job->cost, LEAST_COST)};
	share_demand_update(&job->demand, &window);
}

/* --- probes ----------------------------------------------------------------------------- */

static bool needs_probe(const struct share_job *job)
{
	return !was_idle(job) && job->demand.at_least;
}

/* Returns the next job to probe: a job whose need is not known, and which was not probed in the
 * last REST_WINDOWS windows. Jobs that were never probed come first, then the job whose last probe
 * is the oldest. NULL: there is no such job. */
static struct share_job *choose_probed(const struct shares *shares)
{
	struct share_job *job, *first = NULL;
	TAILQ_FOREACH (job, &shares->jobs, link) {
		bool rested = job->probed_at == 0 ||
			      shares->windows >= job->probed_at + REST_WINDOWS;
		if (needs_probe(job) && rested &&
			(!first || job->probed_at < first->probed_at))
			first = job;
	}
	return first;
}

static bool is_known_now(const struct shares *shares)
{
	const struct share_job *job = shares->probed;
	return !needs_probe(job) || shares->windows >= job->probed_at + PROBE_WINDOWS;
}

/* Ends the present probe, or begins one. Each probe is followed by at least one window without a
 * probe. */
static void probe(struct shares *shares)
{
	shares->windows++;
	if (!shares->is_short) {
		shares->probed = NULL;
		return;
	}
	if (shares->probed) {
		if (is_known_now(shares))
			shares->probed = NULL;
		return;
	}
	if (shares->policy == SHARE_SLOWDOWN || shares->policy == SHARE_THROUGHPUT)
		shares->probed = choose_probed(shares);
	if (shares->probed)
		shares->probed->probed_at = shares->windows;
}

/* --- quanta ----------------------------------------------------------------------------- */

/* Returns the job's part of the decode time. If decoders are not short, the weights alone decide,
 * and not job->granted: job->granted would equal the estimated demand, which falls when a job gets
 * few samples, so a job that lags would get less and less. */
static double part_of(const struct share_job *job, double all, double weights)
{
	if (!job->shares->is_short)
		return job->weight / weights;
	return all > 0 ? job->granted * job->cost / all : 1;
}

static void set_quanta(struct shares *shares, const double *rates)
{
	struct share_job *job;
	double all = 0, weights = 0;
	size_t i = 0;
	TAILQ_FOREACH (job, &shares->jobs, link) {
		bool idle = was_idle(job);
		job->granted = idle ? 0 : rates[i++];
		all += job->granted * job->cost;
		weights += idle ? 0 : job->weight;
	}
	double rest = shares->probed ? 1 - PROBE_PART : 1;
	TAILQ_FOREACH (job, &shares->jobs, link) {
		if (job == shares->probed)
			set_quantum(job, PROBE_PART);
		else if (!was_idle(job))
			set_quantum(job, rest * part_of(job, all, weights));
		else if (weights > 0) /* an idle job's part, when it reads again */
			set_quantum(job, fmin(job->weight / weights, 1));
		job->samples = job->waited_ns = job->charged_ns = 0;
	}
}

int shares_window(struct shares *shares, double seconds, double decoders, double busy)
{
	struct share_job *job;
	size_t n = 0, most = 0;
	TAILQ_FOREACH (job, &shares->jobs, link)
		most++;
	auto_free struct share_claim *claims = calloc(most + 1, sizeof(*claims));
	auto_free double *rates = calloc(most + 1, sizeof(*rates));
	if (!claims || !rates)
		return -ENOMEM;
	TAILQ_FOREACH (job, &shares->jobs, link) {
		if (was_idle(job))
			continue;
		measure(job, seconds, decoders);
		claims[n++] = (struct share_claim){.weight = job->weight,
			.cost = job->cost,
			.demand = job->demand.rate};
	}
	shares->is_short = busy > SHORT_PART * decoders;
	probe(shares);
	share_grant(shares->policy, claims, n, decoders, rates);
	set_quanta(shares, rates);
	return 0;
}
