// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "stats/stats.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

static const struct {
	const char *name;
	const char *unit;
	const char *help;
} rows[] = {
#define STAT(identifier, name, kind, unit, help) {name, unit, help},
	STATS_TABLE(STAT)
#undef STAT
};

static const struct {
	const char *name, *help;
} histograms[] = {
#define HISTOGRAM(identifier, name, help) {name, help},
	STATS_HISTOGRAMS(HISTOGRAM)
#undef HISTOGRAM
};

void stats_print_text(FILE *out)
{
	for (int i = 0; i < STAT_COUNT; i++)
		fprintf(out, "%s %" PRIu64 "\n", rows[i].name,
			stats_get((enum stat_id)i));
}

void stats_print_json(FILE *out)
{
	for (int i = 0; i < STAT_COUNT; i++)
		fprintf(out, "%s\n  \"%s\": %" PRIu64, i ? "," : "", rows[i].name,
			stats_get((enum stat_id)i));
}

void stats_print_man(FILE *out)
{
	for (int i = 0; i < STAT_COUNT; i++)
		fprintf(out, ".It Cm %s\n%s (%s, %s)\n", rows[i].name, rows[i].help,
			rows[i].unit,
			stats_is_counter((enum stat_id)i) ? "counter" : "gauge");
}

void stats_print_histograms_man(FILE *out)
{
	for (int i = 0; i < STATS_HISTOGRAM_COUNT; i++)
		fprintf(out, ".It Cm %s\ntime %s\n", histograms[i].name,
			histograms[i].help);
}

static bool ends_in(const char *name, size_t length, const char *end)
{
	size_t n = strlen(end);
	return length > n && memcmp(name + length - n, end, n) == 0;
}

void stats_print_head(FILE *out, enum stats_form form, const char *name,
	enum stats_kind kind, const char *help)
{
	static const char *const types[] = {[STATS_GAUGE] = "gauge",
		[STATS_COUNTER] = "counter",
		[STATS_TIMES] = "histogram"};
	static const char *const units[] = {"seconds", "bytes", "ratio"};
	int all = (int)strlen(name);
	int base = kind == STATS_COUNTER ? all - (int)strlen("_total") : all;
	int n = form == STATS_OPENMETRICS ? base : all;
	fprintf(out, "# HELP joaderfs_%.*s %s\n# TYPE joaderfs_%.*s %s\n", n, name, help,
		n, name, types[kind]);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (ends_in(name, (size_t)base, units[i]))
			fprintf(out, "# UNIT joaderfs_%.*s %s\n", n, name, units[i]);
}

/* Prints a counter or gauge. Nanoseconds become seconds, Prometheus' base unit. */
static void print_metric(FILE *out, enum stats_form form, int i)
{
	bool counter = stats_is_counter((enum stat_id)i);
	size_t length = strlen(rows[i].name);
	bool time = ends_in(rows[i].name, length, "_ns");
	uint64_t value = stats_get((enum stat_id)i);
	char name[80], help[300];
	snprintf(name, sizeof(name), "%.*s%s%s", (int)(time ? length - 3 : length),
		rows[i].name, time ? "_seconds" : "", counter ? "_total" : "");
	snprintf(help, sizeof(help), "%s (%s)", rows[i].help,
		time ? "seconds" : rows[i].unit);
	stats_print_head(out, form, name, counter ? STATS_COUNTER : STATS_GAUGE, help);
	if (time)
		fprintf(out, "joaderfs_%s %.9f\n", name, (double)value / 1e9);
	else
		fprintf(out, "joaderfs_%s %" PRIu64 "\n", name, value);
}

void stats_print_metrics(FILE *out, enum stats_form form)
{
	for (int i = 0; i < STAT_COUNT; i++)
		print_metric(out, form, i);
}

static const struct {
	const char *name;
	double part;
} quantiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};
#define QUANTILES (sizeof(quantiles) / sizeof(quantiles[0]))

static void print_text(
	FILE *out, const char *family, const char *what, const char *name, uint64_t value)
{
	fprintf(out, "%s_%s%s%s %" PRIu64 "\n", family, what, name[0] ? "." : "", name,
		value);
}

void stats_print_times_text(FILE *out, enum stats_histogram histogram,
	const struct stats_times *times, size_t n)
{
	const char *family = histograms[histogram].name;
	for (const struct stats_times *one = times; one < times + n; one++) {
		print_text(out, family, "count", one->name, histogram_count(&one->copy));
		print_text(out, family, "sum_ns", one->name, one->copy.sum_ns);
		for (size_t q = 0; q < QUANTILES; q++) {
			char what[16];
			snprintf(what, sizeof(what), "%s_ns", quantiles[q].name);
			print_text(out, family, what, one->name,
				histogram_quantile(&one->copy, quantiles[q].part));
		}
	}
}

static void print_json(FILE *out, const struct stats_times *one)
{
	fprintf(out, "{\"count\": %" PRIu64 ", \"sum_ns\": %" PRIu64,
		histogram_count(&one->copy), one->copy.sum_ns);
	for (size_t q = 0; q < QUANTILES; q++)
		fprintf(out, ", \"%s_ns\": %" PRIu64, quantiles[q].name,
			histogram_quantile(&one->copy, quantiles[q].part));
	fputs(", \"buckets\": [", out);
	for (size_t i = 0; i < HISTOGRAM_BOUNDS; i++)
		fprintf(out, "[%" PRIu64 ", %" PRIu64 "], ", histogram_bound(i),
			one->copy.buckets[i]);
	fprintf(out, "[null, %" PRIu64 "]]}", one->copy.buckets[HISTOGRAM_BOUNDS]);
}

void stats_print_times_json(FILE *out, enum stats_histogram histogram,
	const struct stats_times *times, size_t n)
{
	fprintf(out, "  \"%s\": ", histograms[histogram].name);
	if (n == 1 && !times[0].name[0]) {
		print_json(out, &times[0]);
		return;
	}
	fputc('{', out);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "%s\n    \"%s\": ", i ? "," : "", times[i].name);
		print_json(out, &times[i]);
	}
	fputc('}', out);
}

static void print_buckets(FILE *out, const char *family, const struct stats_times *one)
{
	const char *labels = one->labels, *comma = labels[0] ? "," : "";
	uint64_t n = 0;
	for (size_t i = 0; i < HISTOGRAM_BOUNDS; i++) {
		n += one->copy.buckets[i];
		fprintf(out, "joaderfs_%s_seconds_bucket{%s%sle=\"%.10g\"} %" PRIu64 "\n",
			family, labels, comma, (double)histogram_bound(i) / 1e9, n);
	}
	n += one->copy.buckets[HISTOGRAM_BOUNDS];
	fprintf(out, "joaderfs_%s_seconds_bucket{%s%sle=\"+Inf\"} %" PRIu64 "\n", family,
		labels, comma, n);
	fprintf(out, "joaderfs_%s_seconds_sum%s%s%s %.9f\n", family, labels[0] ? "{" : "",
		labels, labels[0] ? "}" : "", (double)one->copy.sum_ns / 1e9);
	fprintf(out, "joaderfs_%s_seconds_count%s%s%s %" PRIu64 "\n", family,
		labels[0] ? "{" : "", labels, labels[0] ? "}" : "", n);
}

void stats_print_times_metrics(FILE *out, enum stats_form form,
	enum stats_histogram histogram, const struct stats_times *times, size_t n)
{
	char name[80], help[200];
	if (n == 0)
		return;
	snprintf(name, sizeof(name), "%s_seconds", histograms[histogram].name);
	snprintf(help, sizeof(help), "time %s", histograms[histogram].help);
	stats_print_head(out, form, name, STATS_TIMES, help);
	for (size_t i = 0; i < n; i++)
		print_buckets(out, histograms[histogram].name, &times[i]);
}
