// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "stats/stats.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

static char *printed(void (*print)(FILE *))
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	print(out);
	fclose(out);
	return text;
}

Test(stats, a_counter_adds_and_a_gauge_is_set)
{
	for (int i = 0; i < STAT_COUNT; i++)
		cr_assert_eq(stats_get((enum stat_id)i), 0);
	stats_add(STAT_OPENS, 2);
	stats_add(STAT_OPENS, 3);
	stats_set(STAT_JOBS, 7);
	stats_set(STAT_JOBS, 4);
	cr_assert_eq(stats_get(STAT_OPENS), 5);
	cr_assert_eq(stats_get(STAT_JOBS), 4);
	cr_assert_eq(stats_get(STAT_READS), 0);
}

Test(stats, setting_a_counter_aborts, .signal = SIGABRT)
{
	freopen("/dev/null", "w", stderr);
	stats_set(STAT_OPENS, 1);
}

Test(stats, adding_to_a_gauge_aborts, .signal = SIGABRT)
{
	freopen("/dev/null", "w", stderr);
	stats_add(STAT_JOBS, 1);
}

#define THREADS 8
#define ADDS 20000

static sem_t counted, may_end;

static void *count(void *context)
{
	(void)context;
	for (int i = 0; i < ADDS; i++) {
		stats_add(STAT_READS, 1);
		stats_add(STAT_READ_BYTES, 1000);
	}
	sem_post(&counted);
	sem_wait(&may_end);
	return NULL;
}

/* The sum is the same while the threads live and after they have ended. */
Test(stats, threads_are_summed_and_nothing_is_lost_at_their_end)
{
	pthread_t threads[THREADS];
	sem_init(&counted, 0, 0);
	sem_init(&may_end, 0, 0);
	stats_add(STAT_READS, 1);
	for (int i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, count, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		while (sem_wait(&counted) == -1 && errno == EINTR)
			;
	cr_assert_eq(stats_get(STAT_READS), THREADS * ADDS + 1);
	for (int i = 0; i < THREADS; i++)
		sem_post(&may_end);
	for (int i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_join(threads[i], NULL), 0);
	cr_assert_eq(stats_get(STAT_READS), THREADS * ADDS + 1);
	cr_assert_eq(stats_get(STAT_READ_BYTES), UINT64_C(1000) * THREADS * ADDS);
}

static void *count_and_end(void *context)
{
	(void)context;
	stats_add(STAT_DRAWS, 1);
	return NULL;
}

/* A reader that sums while threads end never counts twice, and never misses a count. */
Test(stats, a_sum_never_falls)
{
	pthread_t threads[4];
	uint64_t last = 0;
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, count_and_end, NULL);
		for (int i = 0; i < 100; i++) {
			uint64_t now = stats_get(STAT_DRAWS);
			cr_assert_geq(now, last);
			last = now;
		}
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	cr_assert_eq(stats_get(STAT_DRAWS), 200);
}

Test(stats, text_has_a_line_per_counter)
{
	stats_add(STAT_DECODES, 12);
	auto_free char *text = printed(stats_print_text);
	size_t lines = 0;
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	cr_assert_eq(lines, STAT_COUNT);
	cr_assert_eq(strncmp(text, "opens 0\nopens_passed_through 0\n", 30), 0);
	cr_assert_not_null(strstr(text, "\ndecodes 12\n"));
}

static const char *skip_space(const char *c)
{
	return c + strspn(c, " \n");
}

/* Counts the members of a flat object of unsigned numbers, by the grammar of RFC 8259 as far as it
 * is needed. */
static int json_members(const char *c)
{
	int n = 0;
	do {
		c = skip_space(c);
		size_t name =
			*c == '"' ? strspn(c + 1, "abcdefghijklmnopqrstuvwxyz_") : 0;
		if (name == 0 || c[1 + name] != '"')
			return -1;
		c = skip_space(c + name + 2);
		if (*c++ != ':')
			return -1;
		c = skip_space(c);
		size_t digits = strspn(c, "0123456789");
		if (digits == 0 || (digits > 1 && *c == '0'))
			return -1;
		c = skip_space(c + digits);
		n++;
	} while (*c++ == ',');
	return c[-1] == '\0' ? n : -1;
}

Test(stats, json_is_the_members_of_an_object)
{
	cr_assert_eq(json_members("\"a\":1,"), -1, "the check can see a mistake");
	stats_add(STAT_WAIT_NS, UINT64_MAX);
	stats_set(STAT_CACHE_BYTES, 4096);
	auto_free char *text = printed(stats_print_json);
	cr_assert_eq(json_members(text), STAT_COUNT, "%s", text);
	cr_assert_not_null(strstr(text, "\"wait_ns\": 18446744073709551615"));
	cr_assert_not_null(strstr(text, "\"cache_bytes\": 4096"));
}

struct metric {
	char help[64], type[64], kind[16], unit[64], name[64];
	bool has_unit;
};

/* Parses HELP, TYPE, UNIT (if any) and value of one metric. Returns its end; NULL: not a metric. */
static const char *metric(const char *c, struct metric *ret)
{
	int n = 0;
	*ret = (struct metric){0};
	if (sscanf(c, "# HELP %63s %*[^\n]\n# TYPE %63s %15s%n", ret->help, ret->type,
		    ret->kind, &n) != 3 ||
		n == 0 || c[n] != '\n')
		return NULL;
	c += n + 1;
	ret->has_unit = sscanf(c, "# UNIT %63s %*[a-z]%n", ret->unit, &n) == 1;
	if (ret->has_unit)
		c += n + 1;
	n = 0;
	if (sscanf(c, "%63s %*[0-9.]%n", ret->name, &n) != 1 || n == 0 || c[n] != '\n')
		return NULL;
	return c + n + 1;
}

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), length = strlen(end);
	return n > length && strcmp(text + n - length, end) == 0;
}

static void check_metrics(const char *text, bool openmetrics)
{
	int n = 0, counters = 0;
	for (const char *c = text; *c; n++) {
		struct metric one;
		c = metric(c, &one);
		cr_assert_not_null(c, "metric %d", n);
		bool counter = strcmp(one.kind, "counter") == 0;
		counters += counter;
		cr_assert(counter || strcmp(one.kind, "gauge") == 0);
		cr_assert_str_eq(one.help, one.type);
		cr_assert_eq(strncmp(one.name, "joaderfs_", 9), 0);
		cr_assert_eq(ends_in(one.name, "_total"), counter, "%s", one.name);
		size_t base = strlen(one.name) - (counter ? strlen("_total") : 0);
		cr_assert_eq(strlen(one.help), openmetrics ? base : strlen(one.name));
		cr_assert_eq(strncmp(one.help, one.name, strlen(one.help)), 0);
		cr_assert(!one.has_unit || strcmp(one.unit, one.help) == 0);
		one.name[base] = '\0';
		cr_assert_eq(one.has_unit,
			ends_in(one.name, "_seconds") || ends_in(one.name, "_bytes"));
	}
	cr_assert_eq(n, STAT_COUNT);
	cr_assert(counters > 0 && counters < STAT_COUNT);
}

static void print_prometheus(FILE *out)
{
	stats_print_metrics(out, STATS_PROMETHEUS);
}

static void print_openmetrics(FILE *out)
{
	stats_print_metrics(out, STATS_OPENMETRICS);
}

Test(stats, metrics_have_help_type_and_unit_and_counters_end_in_total)
{
	stats_add(STAT_DECODES, 3);
	stats_add(STAT_DECODE_NS, 1500000000);
	auto_free char *text = printed(print_prometheus);
	check_metrics(text, false);
	cr_assert_not_null(strstr(text, "# HELP joaderfs_decodes_total samples read and "
					"prepared (samples)\n"
					"# TYPE joaderfs_decodes_total counter\n"
					"joaderfs_decodes_total 3\n"));
	cr_assert_not_null(strstr(text, "# TYPE joaderfs_jobs gauge\njoaderfs_jobs 0\n"));
	cr_assert_not_null(strstr(text, "# UNIT joaderfs_decode_seconds_total seconds\n"
					"joaderfs_decode_seconds_total 1.500000000\n"));
	auto_free char *open = printed(print_openmetrics);
	check_metrics(open, true);
	cr_assert_not_null(strstr(open, "# TYPE joaderfs_decode_seconds counter\n"
					"# UNIT joaderfs_decode_seconds seconds\n"
					"joaderfs_decode_seconds_total 1.500000000\n"));
}

static void *record_and_end(void *context)
{
	(void)context;
	for (int i = 0; i < ADDS; i++)
		stats_record(STATS_OPEN_WAIT, 1500);
	return NULL;
}

Test(stats, times_of_threads_are_summed_and_nothing_is_lost_at_their_end)
{
	pthread_t threads[THREADS];
	struct histogram_copy copy;
	for (int i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, record_and_end, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_join(threads[i], NULL), 0);
	stats_record(STATS_OPEN_WAIT, 1500);
	stats_copy(STATS_OPEN_WAIT, &copy);
	cr_assert_eq(histogram_count(&copy), THREADS * ADDS + 1);
	cr_assert_eq(copy.sum_ns, 1500 * (UINT64_C(1) * THREADS * ADDS + 1));
	stats_copy(STATS_OPEN_LATENCY, &copy);
	cr_assert_eq(histogram_count(&copy), 0);
}

static struct stats_times times_of_two_reads(void)
{
	struct histogram histogram = {0};
	struct stats_times times = {.name = "photos", .labels = "dataset=\"photos\""};
	histogram_add(&histogram, 1500);
	histogram_add(&histogram, UINT64_C(200000000000));
	histogram_copy_add(&histogram, &times.copy);
	return times;
}

static void print_times(FILE *out)
{
	struct stats_times times = times_of_two_reads();
	stats_print_times_metrics(out, STATS_PROMETHEUS, STATS_SAMPLE_READ, &times, 1);
	stats_print_times_text(out, STATS_SAMPLE_READ, &times, 1);
	stats_print_times_json(out, STATS_SAMPLE_READ, &times, 1);
}

Test(stats, buckets_add_up)
{
	auto_free char *text = printed(print_times);
	static const char *const lines[] = {
		"# TYPE joaderfs_sample_read_seconds histogram\n",
		"# UNIT joaderfs_sample_read_seconds seconds\n",
		"read_seconds_bucket{dataset=\"photos\",le=\"1e-06\"} 0\n",
		"_bucket{dataset=\"photos\",le=\"2e-06\"} 1\n",
		"_bucket{dataset=\"photos\",le=\"100\"} 1\n",
		"_bucket{dataset=\"photos\",le=\"+Inf\"} 2\n",
		"joaderfs_sample_read_seconds_sum{dataset=\"photos\"} 200.000001500\n",
		"joaderfs_sample_read_seconds_count{dataset=\"photos\"} 2\n",
		"sample_read_count.photos 2\n",
		"sample_read_sum_ns.photos 200000001500\n",
		"sample_read_p50_ns.photos 2000\n",
		"\"photos\": {\"count\": 2, \"sum_ns\": 200000001500, ",
		", [2000, 1], ",
		", [null, 1]]}",
	};
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		cr_assert_not_null(strstr(text, lines[i]), "%s", lines[i]);
}

Test(stats, the_man_page_has_an_item_per_counter)
{
	auto_free char *text = printed(stats_print_man);
	int items = 0;
	for (const char *c = text; (c = strstr(c, ".It Cm ")); c++)
		items++;
	cr_assert_eq(items, STAT_COUNT);
	cr_assert_not_null(strstr(text, ".It Cm jobs\njobs known (jobs, gauge)\n"));
}
