// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/text.h"
#include "stats/stats.h"

#include <inttypes.h>

/* What Prometheus is told: the daemon's counters, and gauges of each job. */

struct series {
	const char *name, *type, *help;
	double (*of)(const struct sched_job_status *status);
};

static double rate(const struct sched_job_status *status)
{
	return status->rate;
}

static double demand(const struct sched_job_status *status)
{
	return status->share.demand;
}

static double at_least(const struct sched_job_status *status)
{
	return status->share.at_least;
}

static double wanted(const struct sched_job_status *status)
{
	return status->share.wanted_part;
}

static double granted(const struct sched_job_status *status)
{
	return status->share.granted_part;
}

static double waiting(const struct sched_job_status *status)
{
	return status->share.waiting;
}

static double waited(const struct sched_job_status *status)
{
	return (double)status->wait_ns / 1e9;
}

static double bad(const struct sched_job_status *status)
{
	return status->bad;
}

static double skipped(const struct sched_job_status *status)
{
	return status->skipped;
}

static const struct series series[] = {
	{"rate", "gauge", "Samples consumed (samples/s)", rate},
	{"demand", "gauge", "Samples that it could use (samples/s)", demand},
	{"demand_at_least", "gauge", "Whether it could use more than that (0 or 1)",
		at_least},
	{"share_wanted", "gauge", "Part of all workers for its demand (1: all)", wanted},
	{"share_granted", "gauge", "Part of all workers that it is granted (1: all)",
		granted},
	{"waiting", "gauge", "Part of the last second in which a reader waited", waiting},
	{"bad_samples", "gauge", "Bad samples that its later epochs leave out", bad},
	{"skipped", "gauge", "Bad samples that the running epoch leaves out", skipped},
	{"wait_seconds_total", "counter", "Time that readers have waited (s)", waited},
};
#define SERIES (sizeof(series) / sizeof(series[0]))

static void print_series(FILE *out, const struct series *one, struct sched *sched,
	const job_id *ids, size_t n)
{
	fprintf(out, "# HELP joaderfs_job_%s %s\n# TYPE joaderfs_job_%s %s\n", one->name,
		one->help, one->name, one->type);
	for (size_t i = 0; i < n; i++) {
		struct sched_job_status status;
		struct sched_job *job = sched_job_find_id(sched, ids[i]);
		if (!job)
			continue;
		sched_job_status(job, &status);
		fprintf(out, "joaderfs_job_%s{job=\"%s\"} %.6g\n", one->name,
			sched_job_config(job)->name, one->of(&status));
		sched_job_put(job);
	}
}

void text_metrics(FILE *out, const struct files_context *context)
{
	job_id *ids = NULL;
	size_t n = 0;
	sched_stats(context->sched);
	stats_print_prometheus(out);
	if (sched_job_ids(context->sched, &ids, &n) != 0)
		return; /* no memory: without the jobs */
	for (size_t i = 0; i < SERIES; i++)
		print_series(out, &series[i], context->sched, ids, n);
	free(ids);
	if (context->group)
		group_print_metrics(context->group, out);
}
