// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/queue.h>

/* Lists long work that is running, so that users can see why they wait. The thread that works calls
 * work_begin and work_end, and keeps the struct meanwhile. Threads: any. Locks: one, for the
 * list. */

#define WORK_COUNTS 2

struct work {
	LIST_ENTRY(work) link;
	char what[160]; /* such as "scanning photos" */
	uint64_t since_ns;
	struct {
		const char *unit; /* NULL: there are no more counts */
		const atomic_uint_fast64_t *n;
	} counts[WORK_COUNTS];
};

/* Adds `work` to the list. Sets work->what to "VERB NAME". The caller has already set
 * work->counts. */
void work_begin(struct work *work, const char *verb, const char *name);
void work_end(struct work *work);

/* Prints lines such as "scanning photos: 12000 files, for 8 s". Returns their number. */
unsigned work_print(FILE *out);
