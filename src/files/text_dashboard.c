// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/dashboard_html.h"
#include "files/text.h"
#include "sched/gauges.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* The page dashboard.html contains DATA, which is replaced by a JSON object. For each value this
 * object has a list: one number per reading of the last hour, or one per interval between two
 * readings. The names of jobs and datasets satisfy config_name_valid, so they need no escapes. */

#define DATA "@DATA@"

/* The largest printed number. Buffer sizes below depend on it. */
#define MOST UINT64_C(9999999999999)
#define NUMBER_ROOM (13 + 1)
#define LIST_ROOM ((HISTORY_READINGS + 1) * NUMBER_ROOM)
#define DAEMON_ROOM (12 * LIST_ROOM)
#define JOB_ROOM (9 * LIST_ROOM)

struct job_field {
	const char *name;
	size_t offset; /* offset in struct history_job */
	uint64_t unit; /* divisor of the printed numbers; 1000000 makes ms of ns */
};

static uint64_t number_at(const void *structure, size_t offset)
{
	uint64_t number;
	memcpy(&number, (const char *)structure + offset, sizeof(number));
	return number;
}

/* Prints a number without fprintf, which would take four times as long. A page with many jobs has a
 * hundred thousand numbers. */
static void print_number(FILE *out, uint64_t number)
{
	char text[NUMBER_ROOM];
	char *at = text + sizeof(text);
	number = number < MOST ? number : MOST;
	do
		*--at = (char)('0' + number % 10);
	while ((number /= 10));
	fwrite(at, 1, (size_t)(text + sizeof(text) - at), out);
}

static double seconds_before(const struct last_hour *past, uint64_t ns)
{
	uint64_t now_ns = past->readings[past->n - 1].ns;
	return ns < now_ns ? -(double)(now_ns - ns) / 1e9 : 0;
}

static void print_times(FILE *out, const struct last_hour *past)
{
	fputs("\"seconds\":[", out);
	for (size_t i = 0; i < past->n; i++)
		fprintf(out, "%s%.1f", i ? "," : "",
			seconds_before(past, past->readings[i].ns));
	fputs("],\n", out);
}

/* Prints how much the counter grew from each reading to the next. */
static void print_steps(
	FILE *out, const struct last_hour *past, const char *name, size_t offset)
{
	fprintf(out, "\"%s\":[", name);
	for (size_t i = 1; i < past->n; i++) {
		fputs(i > 1 ? "," : "", out);
		print_number(out, number_at(&past->readings[i], offset) -
					  number_at(&past->readings[i - 1], offset));
	}
	fputs("],\n", out);
}

static void print_states(
	FILE *out, const struct last_hour *past, const char *name, size_t offset)
{
	fprintf(out, "\"%s\":[", name);
	for (size_t i = 0; i < past->n; i++) {
		fputs(i ? "," : "", out);
		print_number(out, number_at(&past->readings[i], offset));
	}
	fputs("]", out);
}

static void print_cache(
	FILE *out, const struct files_context *context, const struct last_hour *past)
{
	struct sched_cache cache;
	sched_cache(context->sched, &cache);
	fprintf(out, "\"cache\":{\"limit\":%" PRIu64 ",\"by_need\":%s,\n", cache.capacity,
		cache.by_need ? "true" : "false");
	print_states(out, past, "held", offsetof(struct history_reading, cache_held));
	fputs(",\n", out);
	print_states(out, past, "pinned", offsetof(struct history_reading, cache_pinned));
	for (size_t i = 0; cache.by_need && i < HISTORY_NEEDS; i++) {
		char name[32];
		snprintf(name, sizeof(name), "needed_%zu", i);
		fputs(",\n", out);
		print_states(out, past, name,
			offsetof(struct history_reading, cache_needed) +
				i * sizeof(uint64_t));
	}
	fputs("},\n", out);
}

static void print_totals(FILE *out)
{
	static const struct {
		const char *name;
		enum stat_id stat;
	} totals[] = {
		{"samples_served", STAT_SERVED},
		{"decodes", STAT_DECODES},
		{"decode_errors", STAT_DECODE_ERRORS},
		{"evictions", STAT_EVICTIONS},
		{"evictions_needed", STAT_EVICTIONS_NEEDED},
	};
	fputs("\"totals\":{", out);
	for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
		fprintf(out, "%s\"%s\":", i ? "," : "", totals[i].name);
		print_number(out, stats_get(totals[i].stat));
	}
	fputs("},\n", out);
}

static const struct job_field job_fields[] = {
	{"served", offsetof(struct history_job, served), 1},
	{"decoded", offsetof(struct history_job, decoded), 1},
	{"shared", offsetof(struct history_job, shared), 1},
	{"hit", offsetof(struct history_job, hit), 1},
};

/* Returns a counter of job number `place` at reading number i; 0 before the job was added. */
static uint64_t done(const struct last_hour *past, size_t place, size_t i, size_t offset)
{
	const struct history_reading *reading = &past->readings[i];
	if (reading->ns < past->jobs[place].added_ns)
		return 0;
	return number_at(&reading->jobs[place], offset);
}

static void print_job_steps(FILE *out, const struct last_hour *past, size_t place,
	const struct job_field *field)
{
	uint64_t before = done(past, place, 0, field->offset);
	fprintf(out, ",\n\"%s\":[", field->name);
	for (size_t i = 1; i < past->n; i++) {
		uint64_t number = done(past, place, i, field->offset);
		fputs(i > 1 ? "," : "", out);
		print_number(out, number / field->unit - before / field->unit);
		before = number;
	}
	fprintf(out, "],\"%s_total\":", field->name);
	print_number(out, before / field->unit);
}

static void print_job(FILE *out, const struct last_hour *past, size_t place)
{
	const struct last_hour_job *job = &past->jobs[place];
	fprintf(out,
		"{\"name\":\"%s\",\"dataset\":\"%s\",\"added\":%.1f,\"gone\":", job->name,
		job->dataset, seconds_before(past, job->added_ns));
	if (job->gone_ns)
		fprintf(out, "%.1f", seconds_before(past, job->gone_ns));
	else
		fputs("null", out);
	for (size_t i = 0; i < sizeof(job_fields) / sizeof(job_fields[0]); i++)
		print_job_steps(out, past, place, &job_fields[i]);
	for (size_t i = 0; i < HISTORY_CAUSES; i++) {
		char name[32];
		snprintf(name, sizeof(name), "%s_ms",
			sched_wait_cause((enum wait_cause)i));
		print_job_steps(out, past, place,
			&(struct job_field){name,
				offsetof(struct history_job, exposed_ns) +
					i * sizeof(uint64_t),
				1000000});
	}
	fputs(",\n\"prepared_for\":[", out);
	for (size_t i = 0; i < HISTORY_JOBS; i++) {
		if (past->jobs[i].name[0] == '\0')
			continue;
		print_number(out, job->prepared_for[i]);
		fputs(",", out);
	}
	print_number(out, job->prepared_for[HISTORY_JOBS]);
	fputs("]}", out);
}

static void print_jobs(FILE *out, const struct last_hour *past, size_t *ret)
{
	*ret = 0;
	fputs("\"jobs\":[", out);
	for (size_t i = 0; i < HISTORY_JOBS; i++) {
		if (past->jobs[i].name[0] == '\0')
			continue;
		fputs(*ret ? ",\n" : "", out);
		print_job(out, past, i);
		++*ret;
	}
	fprintf(out, "],\n\"untold\":%" PRIu32 "\n", past->untold);
}

static void print_newlines(FILE *out, size_t n)
{
	char some[4096];
	memset(some, '\n', sizeof(some));
	for (; n > sizeof(some); n -= sizeof(some))
		fwrite(some, 1, sizeof(some), out);
	fwrite(some, 1, n, out);
}

int text_dashboard(FILE *out, const struct files_context *context)
{
	const char *data = strstr(dashboard_html, DATA);
	auto_free struct last_hour *past = NULL;
	size_t jobs;
	sched_stats(context->sched);
	int err = sched_past(context->sched, &past);
	if (err)
		return err;
	long begin = ftell(out);
	fwrite(dashboard_html, 1, (size_t)(data - dashboard_html), out);
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	fprintf(out, "{\"version\":\"%s\",\"made\":%lld.%03ld,\n", JOADERFS_VERSION,
		(long long)now.tv_sec, now.tv_nsec / 1000000);
	print_times(out, past);
	print_steps(out, past, "served", offsetof(struct history_reading, served));
	print_steps(out, past, "decodes", offsetof(struct history_reading, decodes));
	print_cache(out, context, past);
	print_totals(out);
	print_jobs(out, past, &jobs);
	fputs("}", out);
	fputs(data + strlen(DATA), out);
	size_t length = sizeof(dashboard_html) + DAEMON_ROOM + jobs * JOB_ROOM;
	print_newlines(out, length - (size_t)(ftell(out) - begin));
	return 0;
}
