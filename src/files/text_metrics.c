// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/text.h"
#include "files/text_times.h"

#include <inttypes.h>

/* What Prometheus is told: the daemon's counters, and gauges of each job. */

struct series {
	const char *name;
	enum stats_kind kind;
	const char *help;
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
	{"rate", STATS_GAUGE, "Samples consumed (samples/s)", rate},
	{"demand", STATS_GAUGE, "Samples that it could use (samples/s)", demand},
	{"demand_at_least", STATS_GAUGE, "Whether it could use more than that (0 or 1)",
		at_least},
	{"share_wanted", STATS_GAUGE, "Part of all workers for its demand (1: all)",
		wanted},
	{"share_granted", STATS_GAUGE, "Part of all workers that it is granted (1: all)",
		granted},
	{"waiting", STATS_GAUGE, "Part of the last second in which a reader waited",
		waiting},
	{"bad_samples", STATS_GAUGE, "Bad samples that its later epochs leave out", bad},
	{"skipped", STATS_GAUGE, "Bad samples that the running epoch leaves out",
		skipped},
	{"wait_seconds_total", STATS_COUNTER, "Time that readers have waited (s)",
		waited},
};
#define SERIES (sizeof(series) / sizeof(series[0]))

static void print_series(FILE *out, enum stats_form form, const struct series *one,
	struct sched *sched, const job_id *ids, size_t n)
{
	char name[80];
	snprintf(name, sizeof(name), "job_%s", one->name);
	stats_print_head(out, form, name, one->kind, one->help);
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

static void print_jobs(FILE *out, struct sched *sched, enum stats_form form)
{
	job_id *ids = NULL;
	size_t n = 0;
	if (sched_job_ids(sched, &ids, &n) != 0)
		return; /* no memory: without the jobs */
	for (size_t i = 0; n > 0 && i < SERIES; i++)
		print_series(out, form, &series[i], sched, ids, n);
	free(ids);
}

void text_metrics(FILE *out, const struct files_context *context, enum stats_form form)
{
	sched_stats(context->sched);
	stats_print_metrics(out, form);
	text_times_metrics(out, context, form);
	print_jobs(out, context->sched, form);
	if (context->group)
		group_print_metrics(context->group, form, out);
	stats_print_metrics_end(out);
}
