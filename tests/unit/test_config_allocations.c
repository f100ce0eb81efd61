// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config_helpers.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

/*
 * Each allocation of the configuration fails once. A valid ini must then give -ENOMEM without a
 * message, and nothing may read what could not be stored. The Makefile wraps the calls.
 */

static unsigned left; /* calls up to and including the one that fails; 0: no call fails */

static bool fails(void)
{
	if (left == 0 || --left > 0)
		return false;
	errno = ENOMEM;
	return true;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_reallocarray(void *old, size_t n, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t n);
FILE *__real_open_memstream(char **ret, size_t *ret_size);

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_reallocarray(void *old, size_t n, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t n);
int __real_vasprintf(char **ret, const char *format, va_list args);
int __wrap_vasprintf(char **ret, const char *format, va_list args);
FILE *__wrap_open_memstream(char **ret, size_t *ret_size);

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_reallocarray(void *old, size_t n, size_t size)
{
	return fails() ? NULL : __real_reallocarray(old, n, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t n)
{
	return fails() ? NULL : __real_strndup(text, n);
}

int __wrap_vasprintf(char **ret, const char *format, va_list args)
{
	return fails() ? -1 : __real_vasprintf(ret, format, args);
}

FILE *__wrap_open_memstream(char **ret, size_t *ret_size)
{
	return fails() ? NULL : __real_open_memstream(ret, ret_size);
}

static struct messages messages;

static int try_job(const char *text)
{
	struct job_config job;
	int err = parse_job(text, &messages, &job);
	if (!err)
		config_job_free(&job);
	return err;
}

static int try_daemon(const char *text)
{
	struct daemon_config daemon;
	messages.text[0] = '\0';
	int err = config_parse_daemon(
		"/etc/joaderfs.ini", text, collect, &messages, &daemon);
	if (!err)
		config_daemon_free(&daemon);
	return err;
}

static void fail_each(int (*parse)(const char *text), const char *text, unsigned at_least)
{
	unsigned n = 0;
	do {
		left = ++n;
		int err = parse(text);
		cr_assert_eq(err, left ? 0 : -ENOMEM, "call %u: %d", n, err);
		cr_assert_str_eq(messages.text, "", "call %u: %s", n, messages.text);
	} while (left == 0);
	left = 0;
	cr_assert_gt(n, at_least);
}

Test(config_allocations, job)
{
	fail_each(try_job, "[job]\nname = a\ndataset = photos\n", 10);
	fail_each(try_job,
		"[job]\nname = a\ndataset = photos:3 sketches\nlabel_table = /labels\n"
		"[tensor]\nresize = 8x8\nformat = npy\n[view]\nlayout = batch\nbatch = "
		"4\n",
		10);
	fail_each(try_job,
		"[job]\nname = a\ndataset = photos\nranks = 2\nrank = 1\norder = "
		"shuffled\n"
		"where = width > 3\n[view]\npath = %name/x\nextension = y\njson = yes\n",
		10);
	fail_each(try_job,
		"[job]\nname = a\ndataset = photos\norder = replay:/old.order\n"
		"[tensor]\nformat = source\n[view]\nshard = 8\n",
		10);
	fail_each(try_job,
		"[job]\nname = a\ndataset = photos\n[view]\nlayout = mirror\n"
		"[tensor a/*]\nresize = 9\n[tensor b/*]\nformat = source\n",
		20);
}

Test(config_allocations, daemon)
{
	fail_each(try_daemon,
		"[joaderfs]\ncache = 1G\nstate = s\njobs = j\nsocket = t\n"
		"[dataset a]\npath = /a\ntier = /t, 1G\n"
		"[dataset b]\npath = b\ntier = /t, 1G\nlabel = csv:class\n"
		"[template t]\njob.order = sequential\nview.layout = classes\n",
		20);
}

/* Mistakes that were found before the failure are reported. */
Test(config_allocations, mistakes)
{
	static const char *const wrong[] = {
		"[job]\nname = a\ndataset = a,b\norder = sequential\n[view]\nlayout = "
		"classes\n",
		"[job]\nname = a\ndataset = photos\nordr = x\n[tensor]\nformat = nyp\n",
		"[job]\nname = a\ndataset = photos\n[view]\npath = ../%name\nlayout = "
		"batch\n",
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		unsigned n = 0;
		do {
			left = ++n;
			int err = try_job(wrong[i]);
			cr_assert(err == -EINVAL || (left == 0 && err == -ENOMEM),
				"call %u: %d", n, err);
		} while (left == 0);
		left = 0;
		cr_assert_gt(n, 10);
	}
}
