// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/*
 * Tells how much of the machine this process may use. A control group of the process may limit it
 * (cgroup v1 and v2, including all parent groups).
 *
 *   Flow: call at any time; each call reads the files of /proc and of the groups again.
 *   Owns: nothing.   Threads: any.
 *   Errors: a file that can't be read sets no limit.
 *
 * root: "", or in tests a directory that replaces /.
 */

struct machine_memory {
	/* bytes that this process may use together with all processes under the same limit */
	uint64_t most;
	uint64_t left; /* unused bytes of `most`; file caches count as unused */
	/* File that sets the limit; empty: only the machine's memory limits. */
	char limit[512];
};

/* Returns the limit and the unused memory of this process. If several limits hold, of the machine
 * and of control groups, returns those of the limit that leaves the fewest bytes. */
struct machine_memory machine_memory(const char *root);

/* Returns the number of CPUs that this process may use, at least 1. */
unsigned machine_cpus(const char *root);

/* Returns the number of times that the kernel has killed a process because memory ran out: a
 * process of this group, or any process if there is no group. */
uint64_t machine_memory_kills(const char *root);
