// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/escape.h"
#include "files/text.h"
#include "sched/gauges.h"
#include "sched/jobs.h"

#include <inttypes.h>
#include <stdlib.h>

/* Each line is NUMBER(name, kind, help, value): a number of a job, from its status. */
#define NUMBERS(NUMBER)                                                                  \
	NUMBER("rate", STATS_GAUGE, "Samples consumed (samples/s)", status->rate)        \
	NUMBER("demand", STATS_GAUGE, "Samples that the job could use (samples/s)",      \
		status->share.demand)                                                    \
	NUMBER("demand_at_least", STATS_GAUGE,                                           \
		"1: the job could use more samples than its demand says; 0: not",        \
		status->share.at_least)                                                  \
	NUMBER("share_wanted", STATS_GAUGE,                                              \
		"Part of all workers that the job's demand needs (1: all)",              \
		status->share.wanted_part)                                               \
	NUMBER("share_granted", STATS_GAUGE,                                             \
		"Part of all workers that the job is granted (1: all)",                  \
		status->share.granted_part)                                              \
	NUMBER("waiting", STATS_GAUGE,                                                   \
		"Part of the last second in which a reader of the job waited",           \
		status->share.waiting)                                                   \
	NUMBER("bad_samples", STATS_GAUGE,                                               \
		"Bad samples that the job's later epochs leave out", status->bad)        \
	NUMBER("skipped", STATS_GAUGE,                                                   \
		"Bad samples that the job's running epoch leaves out", status->skipped)  \
	NUMBER("waited_ratio", STATS_GAUGE,                                              \
		"Part of the job's running or last epoch in which its readers waited",   \
		status->waited_part)                                                     \
	NUMBER("epoch", STATS_GAUGE,                                                     \
		"Number of the job's running epoch, or of its last one", status->epoch)  \
	NUMBER("epoch_samples", STATS_GAUGE,                                             \
		"Samples of the job's running or last epoch", status->samples)           \
	NUMBER("epoch_consumed", STATS_GAUGE,                                            \
		"Samples of the job's running or last epoch that were read",             \
		status->consumed)                                                        \
	NUMBER("epoch_left_seconds", STATS_GAUGE,                                        \
		"Time until the job's epoch ends at the recent rate; -1: not known",     \
		sched_seconds_left(status))                                              \
	NUMBER("prepared_sample_bytes", STATS_GAUGE,                                     \
		"Mean bytes of a prepared sample of the job",                            \
		(double)status->sample_bytes)                                            \
	NUMBER("prepared_bytes", STATS_GAUGE,                                            \
		"Bytes of all prepared samples of the job", (double)status->all_bytes)   \
	NUMBER("wait_seconds_total", STATS_COUNTER,                                      \
		"Sum of the times that opens of the job have waited (s)",                \
		(double)status->wait_ns / 1e9)

/* Prints a number with one more label: why readers waited, or how samples were served. */
static void print_word(FILE *out, const char *name, const struct job_config *config,
	const char *label, const char *word, double value)
{
	fprintf(out, "joaderfs_job_%s{job=\"%s\",dataset=\"%s\",%s=\"%s\"} %.12g\n", name,
		config->name, config->dataset, label, word, value);
}

static void print_causes(
	FILE *out, const struct job_config *config, const struct sched_job_status *status)
{
	for (int i = 0; i < WAIT_CAUSES; i++)
		print_word(out, "exposed_wait_seconds_total", config, "cause",
			sched_wait_cause((enum wait_cause)i),
			(double)status->exposed_ns[i] / 1e9);
}

static void print_served(
	FILE *out, const struct job_config *config, const struct sched_job_status *status)
{
	const char *name = "samples_total";
	print_word(out, name, config, "how", "decoded", (double)status->decoded);
	print_word(out, name, config, "how", "shared", (double)status->shared);
	print_word(out, name, config, "how", "hit", (double)status->hit);
}

static const struct series {
	const char *name;
	enum stats_kind kind;
	const char *help;
	/* prints the lines of a job; NULL: a job has a single line, with the number from
	 * value_of */
	void (*print)(FILE *out, const struct job_config *config,
		const struct sched_job_status *status);
} series[] = {
#define NUMBER(name, kind, help, value) {name, kind, help, NULL},
	NUMBERS(NUMBER)
#undef NUMBER
		{"exposed_wait_seconds_total", STATS_COUNTER,
			"Time in which a reader of the job waited, by cause",
			print_causes},
	{"samples_total", STATS_COUNTER,
		"Samples that the job's positions got, by how they were served",
		print_served},
};
#define SERIES (sizeof(series) / sizeof(series[0]))

static double value_of(size_t i, const struct sched_job_status *status)
{
	const double values[] = {
#define NUMBER(name, kind, help, value) value,
		NUMBERS(NUMBER)
#undef NUMBER
	};
	return values[i];
}

static void print_series(FILE *out, enum stats_form form, const struct series *one,
	struct sched *sched, const job_id *ids, size_t n)
{
	char name[80];
	snprintf(name, sizeof(name), "job_%s", one->name);
	stats_print_head(out, form, name, one->kind, one->help);
	for (size_t i = 0; i < n; i++) {
		struct sched_job_status status;
		auto_job *job = sched_job_find_id(sched, ids[i]);
		if (!job)
			continue;
		sched_job_status(job, &status);
		const struct job_config *config = sched_job_config(job);
		if (one->print)
			one->print(out, config, &status);
		else
			fprintf(out, "joaderfs_job_%s{job=\"%s\",dataset=\"%s\"} %.12g\n",
				one->name, config->name, config->dataset,
				value_of((size_t)(one - series), &status));
	}
}

static void print_cache(FILE *out, struct sched *sched, enum stats_form form)
{
	struct sched_cache cache;
	sched_cache(sched, &cache);
	stats_print_head(out, form, "cache_capacity_bytes", STATS_GAUGE,
		"Bytes of tensors that the cache may hold");
	fprintf(out, "joaderfs_cache_capacity_bytes %" PRIu64 "\n", cache.capacity);
	stats_print_head(out, form, "cache_pinned_bytes", STATS_GAUGE,
		"Bytes of cached tensors whose samples are drawn and not consumed, or "
		"open");
	fprintf(out, "joaderfs_cache_pinned_bytes %" PRIu64 "\n", cache.pinned);
	if (!cache.by_need)
		return;
	stats_print_head(out, form, "cache_needed_bytes", STATS_GAUGE,
		"Bytes of all other cached tensors, by the number of running epochs that "
		"need them");
	for (int i = 0; i < SCHED_NEEDS; i++)
		fprintf(out, "joaderfs_cache_needed_bytes{epochs=\"%d%s\"} %" PRIu64 "\n",
			i, i == SCHED_NEEDS - 1 ? "+" : "", cache.needed[i]);
}

/* Prints a text between the quotes of a label. Prometheus requires a backslash before
 * each quote and backslash of the text, also before those that escape_print adds. */
static void print_label(FILE *out, const char *text)
{
	auto_free char *escaped = NULL;
	size_t size;
	FILE *copy = open_memstream(&escaped, &size);
	if (!copy)
		return;
	escape_print(copy, text);
	if (fclose(copy) != 0)
		return;
	for (const char *at = escaped; *at; at++)
		fprintf(out, "%s%c", *at == '"' || *at == '\\' ? "\\" : "", *at);
}

static void print_storages(FILE *out, struct sched *sched, enum stats_form form)
{
	static const struct {
		const char *name;
		enum stats_kind kind;
		const char *help;
	} rows[] = {
		{"storage_reads_in_flight", STATS_GAUGE,
			"Reads of the storage in flight"},
		{"storage_reads_total", STATS_COUNTER,
			"Reads of the storage that have ended"},
		{"storage_read_bytes_total", STATS_COUNTER,
			"Bytes of the storage's ended reads, also of samples that a tier "
			"had"},
		{"storage_silent_seconds", STATS_GAUGE,
			"Time for which the storage has not answered; 0: it answers"},
	};
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		struct sched_storage storage;
		stats_print_head(
			out, form, rows[row].name, rows[row].kind, rows[row].help);
		for (size_t i = 0; sched_storage(sched, i, &storage); i++) {
			const double values[] = {storage.reads, (double)storage.ended,
				(double)storage.bytes, (double)storage.silent_ns / 1e9};
			fprintf(out, "joaderfs_%s{storage=\"", rows[row].name);
			print_label(out, storage.root);
			fprintf(out, "\"} %.12g\n", values[row]);
		}
	}
}

static void print_jobs(FILE *out, struct sched *sched, enum stats_form form)
{
	auto_free job_id *ids = NULL;
	size_t n = 0;
	if (sched_job_ids(sched, &ids, &n) != 0)
		return; /* without memory the jobs are left out */
	for (size_t i = 0; n > 0 && i < SERIES; i++)
		print_series(out, form, &series[i], sched, ids, n);
}

void text_metrics(FILE *out, const struct files_context *context, enum stats_form form)
{
	sched_stats(context->sched);
	stats_print_metrics(out, form);
	text_times_metrics(out, context, form);
	print_cache(out, context->sched, form);
	print_storages(out, context->sched, form);
	print_jobs(out, context->sched, form);
	if (context->group)
		group_print_metrics(context->group, form, out);
	fputs("# EOF\n", out);
}
