// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <criterion/new/assert.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The tests of a binary without Criterion's runner, which starts a program for each of
 * them: valgrind takes a second for that. Here each test is a fork of one process.
 *
 *     test_x.alone [WORD]     without the tests that have WORD in their names
 *
 * Tests and assertions are Criterion's. What these would tell its runner comes here,
 * because a program's own functions are found before those of its libraries.
 */

extern struct criterion_test *const __start_cr_tst[], *const __stop_cr_tst[];
extern struct criterion_suite *const __start_cr_sts[] __attribute__((weak));
extern struct criterion_suite *const __stop_cr_sts[] __attribute__((weak));

enum result { PASSED, FAILED, SKIPPED, RESULTS };

static const struct criterion_test *current;
static enum result result = PASSED; /* of the current test, which is this process */

/* --- what tests and assertions call ------------------------------------------------ */

void criterion_send_assert(struct criterion_assert_stats *stats)
{
	if (!stats->passed)
		fprintf(stderr, "%s:%u: %s\n", stats->file, stats->line, stats->message);
}

void cri_assert_node_send(const char *file, size_t line, struct cri_assert_node *tree)
{
	(void)tree;
	fprintf(stderr, "%s:%zu: not so\n", file, line);
}

void criterion_continue_test(void)
{
	result = FAILED;
}

void criterion_abort_test(void)
{
	exit(FAILED);
}

static void say(const char *format, va_list words)
{
	vfprintf(stderr, format, words);
	fputc('\n', stderr);
}

void criterion_skip_test(const char *format, ...)
{
	va_list words;
	va_start(words, format);
	say(format, words);
	va_end(words);
	exit(SKIPPED);
}

void cr_log(enum criterion_severity severity, const char *format, ...)
{
	va_list words;
	(void)severity;
	va_start(words, format);
	say(format, words);
	va_end(words);
}

static const struct criterion_test_extra_data *suite_data(void)
{
	static const struct criterion_test_extra_data none;
	for (struct criterion_suite *const *suite = __start_cr_sts;
		suite < __stop_cr_sts; suite++)
		if (strcmp((*suite)->name, current->category) == 0)
			return (*suite)->data;
	return &none;
}

static void call(void (*function)(void))
{
	if (function)
		function();
}

void criterion_internal_test_setup(void)
{
	call(suite_data()->init);
	call(current->data->init);
}

void criterion_internal_test_main(void (*function)(void))
{
	function();
}

void criterion_internal_test_teardown(void)
{
	call(current->data->fini);
	call(suite_data()->fini);
}

/* --- the runner -------------------------------------------------------------------- */

static enum result result_of(int status)
{
	int expected = current->data->signal;
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == expected ? PASSED : FAILED;
	if (expected || WEXITSTATUS(status) >= RESULTS)
		return FAILED;
	return (enum result)WEXITSTATUS(status);
}

static enum result run(void)
{
	int status = 0;
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		current->test();
		exit(result);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return FAILED;
	return result_of(status);
}

int main(int argc, char **argv)
{
	unsigned n[RESULTS] = {0};
	for (struct criterion_test *const *test = __start_cr_tst; test < __stop_cr_tst;
		test++) {
		current = *test;
		if (argc > 1 && strstr(current->name, argv[1]))
			continue;
		enum result ended = run();
		n[ended]++;
		if (ended == FAILED)
			printf("failed: %s/%s\n", current->category, current->name);
	}
	printf("Tested: %u | Passing: %u | Failing: %u | Skipped: %u\n",
		n[PASSED] + n[FAILED], n[PASSED], n[FAILED], n[SKIPPED]);
	return n[FAILED] > 0 || n[PASSED] + n[SKIPPED] == 0;
}
