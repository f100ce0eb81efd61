// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/queue.h>

/*
 * Lists long work, for people who wait for it.
 *
 *   Flow: the worker calls work_begin and work_end; work_print prints all work that runs.
 *   Owns: nothing; the struct is the caller's until work_end.
 *   Threads: any.   Locks: one, for the list.   Errors: none.
 */

#define WORK_COUNTS 2

struct work {
	LIST_ENTRY(work) link;
	char what[160]; /* "scanning photos" */
	uint64_t since_ns;
	struct work_count {
		const char *unit; /* NULL: no count */
		const atomic_uint_fast64_t *n;
	} counts[WORK_COUNTS];
};

/* Lists the work; the caller has set `counts` before. */
void work_begin(struct work *work, const char *verb, const char *name);
void work_end(struct work *work);

/* Prints a line for each: "scanning photos: 12000 files, 11500 headers, for 8 s". Returns how
 * many. */
unsigned work_print(FILE *out);
