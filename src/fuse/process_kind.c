// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/process_kind.h"

#include <string.h>

struct arguments {
	const char *at, *end;
};

/* NULL: there is none, or its end was cut off. */
static const char *next_of(struct arguments *arguments)
{
	const char *found = arguments->at;
	const char *end = memchr(found, '\0', (size_t)(arguments->end - found));
	if (!end)
		return NULL;
	arguments->at = end + 1;
	return found;
}

static const char *after(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);
	return text && strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

/* Python's own package, its fork for dill, and the two of loky. */
static const char *after_package(const char *text)
{
	static const char *const names[] = {"multiprocessing.", "multiprocess.",
		"joblib.externals.loky.backend.", "loky.backend."};
	const char *rest = NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !rest; i++)
		rest = after(text, names[i]);
	return rest;
}

static bool is_helpers_code(const char *text)
{
	static const char *const codes[] = {"spawn import spawn_main;",
		"forkserver import main;", "resource_tracker import main;",
		"semaphore_tracker import main;"};
	const char *rest = after_package(after(text, "from "));
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (after(rest, codes[i]))
			return true;
	return false;
}

static bool is_helpers_module(const char *text)
{
	const char *rest = after_package(text);
	return rest && strcmp(rest, "popen_loky_posix") == 0;
}

/* "-" is a script from the standard input; helpers get no long options of the interpreter. */
static bool is_option(const char *text)
{
	return text && text[0] == '-' && text[1] != '\0' && text[1] != '-';
}

bool process_is_helper(const char *arguments, size_t n)
{
	struct arguments rest = {.at = arguments, .end = arguments + n};
	const char *program = next_of(&rest), *option = program ? next_of(&rest) : NULL;
	if (option &&
		strcmp(option, "--multiprocessing-fork") == 0) /* a frozen program */
		return true;
	for (; is_option(option); option = next_of(&rest)) {
		if (strcmp(option, "-c") == 0)
			return is_helpers_code(next_of(&rest));
		if (strcmp(option, "-m") == 0)
			return is_helpers_module(next_of(&rest));
		bool has_value = strcmp(option, "-X") == 0 || strcmp(option, "-W") == 0;
		if (has_value && !next_of(&rest))
			return false;
	}
	return false;
}
