// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "stats/stats.h"

#include <criterion/criterion.h>
#include <ctype.h>
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

/* The same sum while the threads live and after they ended. */
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

/* A reader that sums while threads end never sees a count twice, or not at all. */
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
	cr_assert_eq(strncmp(text, "opens 0\nopens_passed_through 0\n", 31), 0);
	cr_assert_not_null(strstr(text, "\ndecodes 12\n"));
}

static const char *skip_space(const char *c)
{
	return c + strspn(c, " \n");
}

/* A flat object of unsigned numbers: the grammar of RFC 8259 as far as it is needed. */
static int json_members(const char *c)
{
	int n = 0;
	c = skip_space(c);
	if (*c++ != '{')
		return -1;
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
	return c[-1] == '}' && *skip_space(c) == '\0' ? n : -1;
}

Test(stats, json_is_one_object)
{
	cr_assert_eq(json_members("{\"a\":1,}"), -1, "the check can see a mistake");
	stats_add(STAT_WAIT_NS, UINT64_MAX);
	stats_set(STAT_CACHE_BYTES, 4096);
	auto_free char *text = printed(stats_print_json);
	cr_assert_eq(json_members(text), STAT_COUNT, "%s", text);
	cr_assert_not_null(strstr(text, "\"wait_ns\": 18446744073709551615"));
	cr_assert_not_null(strstr(text, "\"cache_bytes\": 4096"));
}

/* HELP, TYPE and value of one metric; ends with NULL. */
static const char *metric(const char *c, bool *ret_counter)
{
	char help[64], type[64], kind[16], value[64];
	int n = 0;
	if (sscanf(c, "# HELP %63s %*[^\n]\n# TYPE %63s %15s\n%63s %*[0-9]%n", help, type,
		    kind, value, &n) != 4 ||
		n == 0 || c[n] != '\n')
		return NULL;
	if (strcmp(help, type) != 0 || strcmp(help, value) != 0 ||
		strncmp(help, "joaderfs_", 9) != 0)
		return NULL;
	const char *suffix = strstr(help, "_total");
	*ret_counter = strcmp(kind, "counter") == 0;
	if (*ret_counter != (suffix && suffix[6] == '\0'))
		return NULL;
	return *ret_counter || strcmp(kind, "gauge") == 0 ? c + n + 1 : NULL;
}

Test(stats, prometheus_has_help_and_type_and_counters_end_in_total)
{
	int n = 0, counters = 0;
	stats_add(STAT_DECODES, 3);
	auto_free char *text = printed(stats_print_prometheus);
	for (const char *c = text; *c; n++) {
		bool counter = false;
		c = metric(c, &counter);
		cr_assert_not_null(c, "metric %d", n);
		counters += counter;
	}
	cr_assert_eq(n, STAT_COUNT);
	cr_assert(counters > 0 && counters < STAT_COUNT);
	cr_assert_not_null(strstr(text, "# HELP joaderfs_decodes_total samples read and "
					"prepared (samples)\n"
					"# TYPE joaderfs_decodes_total counter\n"
					"joaderfs_decodes_total 3\n"));
	cr_assert_not_null(strstr(text, "# TYPE joaderfs_jobs gauge\njoaderfs_jobs 0\n"));
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
