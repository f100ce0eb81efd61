// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/* Tells how much memory and how many CPUs this process may use. Control groups may limit them
 * (cgroup v1 and v2, including all parent groups). Each call reads the files of /proc and of the
 * groups again; a file that can't be read sets no limit. Threads: any. root: "", or in tests a
 * directory that replaces /. */

struct machine_memory {
	uint64_t most; /* bytes for all processes under the same limit */
	uint64_t left; /* unused bytes of `most`, including file caches */
	/* path of the file that sets the limit; empty: `most` is the machine's memory */
	char limit[512];
};

/* Compares the machine and the control groups. Returns the limit that leaves the fewest bytes. */
struct machine_memory machine_memory(const char *root);

/* Returns the CPUs that this process may use, at least 1. */
unsigned machine_cpus(const char *root);

/* Returns how many processes of this control group the kernel has killed because memory ran out. If
 * there is no group, counts all processes of the machine. */
uint64_t machine_memory_kills(const char *root);
