// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include <criterion/criterion.h>
#include <stdlib.h>

/* Commits the fault that the environment names. tests/unit/run must notice it. */

static void *volatile held;
static volatile int seen;

static void leak(void)
{
	held = malloc(100);
	held = NULL;
}

static void read_uninitialised(void)
{
	int *volatile numbers = malloc(4 * sizeof(*numbers));
	cr_assert_not_null(numbers);
	if (numbers[2] > 5)
		seen++;
	free(numbers);
}

static void read_freed(void)
{
	char *volatile text = malloc(10);
	cr_assert_not_null(text);
	free(text);
	seen = text[3];
}

Test(faulty, does_what_FAULT_says)
{
	const char *fault = getenv("FAULT");
	fault = fault ? fault : "";
	cr_assert_str_neq(fault, "assertion");
	if (strcmp(fault, "abort") == 0)
		abort();
	if (strcmp(fault, "leak") == 0)
		leak();
	if (strcmp(fault, "uninitialised") == 0)
		read_uninitialised();
	if (strcmp(fault, "freed") == 0)
		read_freed();
}
