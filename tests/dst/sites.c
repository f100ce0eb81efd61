// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sites.h"
#include "coroutines.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static enum site failing;
static uint64_t left;
static int error;
static bool failed, resting;

void sites_begin(enum site kind, uint64_t n, int number)
{
	failing = n ? kind : SITE_NONE;
	left = n;
	error = number;
	failed = false;
}

void sites_rest(bool rest)
{
	resting = rest;
}

bool sites_have_failed(void)
{
	return failed;
}

bool site_fails(enum site kind)
{
	if (kind != failing || resting || !co_is_running() || --left > 0)
		return false;
	failing = SITE_NONE;
	failed = true;
	errno = error;
	return true;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t n);
void *__real_reallocarray(void *old, size_t n, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t n);
int __real_posix_memalign(void **ret, size_t alignment, size_t n);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t n);
int __real_vasprintf(char **ret, const char *format, va_list args);
FILE *__real_open_memstream(char **ret, size_t *ret_size);

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t n);
void *__wrap_reallocarray(void *old, size_t n, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t n);
int __wrap_posix_memalign(void **ret, size_t alignment, size_t n);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t n);
int __wrap_vasprintf(char **ret, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
int __wrap_asprintf(char **ret, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
FILE *__wrap_open_memstream(char **ret, size_t *ret_size);

void *__wrap_malloc(size_t n)
{
	return site_fails(SITE_MEMORY) ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return site_fails(SITE_MEMORY) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t n)
{
	return site_fails(SITE_MEMORY) ? NULL : __real_realloc(old, n);
}

void *__wrap_reallocarray(void *old, size_t n, size_t size)
{
	return site_fails(SITE_MEMORY) ? NULL : __real_reallocarray(old, n, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t n)
{
	return site_fails(SITE_MEMORY) ? NULL : __real_aligned_alloc(alignment, n);
}

int __wrap_posix_memalign(void **ret, size_t alignment, size_t n)
{
	return site_fails(SITE_MEMORY) ? ENOMEM
				       : __real_posix_memalign(ret, alignment, n);
}

char *__wrap_strdup(const char *text)
{
	return site_fails(SITE_MEMORY) ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t n)
{
	return site_fails(SITE_MEMORY) ? NULL : __real_strndup(text, n);
}

int __wrap_vasprintf(char **ret, const char *format, va_list args)
{
	return site_fails(SITE_MEMORY) ? -1 : __real_vasprintf(ret, format, args);
}

int __wrap_asprintf(char **ret, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = __wrap_vasprintf(ret, format, args);
	va_end(args);
	return n;
}

FILE *__wrap_open_memstream(char **ret, size_t *ret_size)
{
	return site_fails(SITE_MEMORY) ? NULL : __real_open_memstream(ret, ret_size);
}
