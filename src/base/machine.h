// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/*
 * Tells how much of the machine this process may use: all of it, or less if a control group that
 * the process is in limits it (cgroup v1 and v2, with all groups above it).
 *
 *   Flow: any time; each call reads files of /proc and of the groups anew.
 *   Owns: nothing.   Threads: any.
 *   Errors: a file that can't be read limits nothing.
 *
 * root: a directory that stands for / (for tests), "" otherwise.
 */

struct machine_memory {
	uint64_t most; /* bytes that the process and its neighbours may have together */
	uint64_t left; /* unused bytes of `most`; caches of files count as unused */
	/* file that sets the limit; empty: only the machine's memory does */
	char limit[512];
};

/* Returns the limit that leaves the least memory. */
struct machine_memory machine_memory(const char *root);

/* Returns the CPUs of this process, at least 1. */
unsigned machine_cpus(const char *root);

/* Returns how often the kernel has killed a process of this group because memory ran out; outside
 * of groups: any process. */
uint64_t machine_memory_kills(const char *root);
