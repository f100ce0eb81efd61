// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/*
 * Tells how much of the machine this process may use. Its control groups may limit it
 * (cgroup v1 and v2, including all parent groups). Each call reads the files of /proc
 * and of the groups again.
 *
 *   Threads: any.   Errors: a file that can't be read sets no limit.
 *
 * root: "", or in tests a directory that replaces /.
 */

struct machine_memory {
	uint64_t most; /* bytes for all processes under the same limit */
	uint64_t left; /* unused bytes of `most`, including file caches */
	/* path of the file that sets the limit; empty: `most` is the machine's memory */
	char limit[512];
};

/* Returns the limit (of the machine or of a control group) that leaves the fewest
 * bytes. */
struct machine_memory machine_memory(const char *root);

/* Returns the CPUs that this process may use, at least 1. */
unsigned machine_cpus(const char *root);

/* Returns how often the kernel has killed a process because memory ran out: a process of
 * this group, or any process if there is no group. */
uint64_t machine_memory_kills(const char *root);
