// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The command line and the environment tell what a process is: n bytes as in /proc/ID/cmdline,
 * each argument with its \0; a piece that is cut off at the end is no argument. Pure.
 */

/* A process that Python's multiprocessing, multiprocess or loky has started for its parent: the
 * interpreter's options, and then exactly what these packages write. */
enum process_helper {
	HELPER_NONE,
	HELPER_WORKS,
	HELPER_FORKS, /* the server that forks workers */
	HELPER_TRACKS
};
enum process_helper process_helper(const char *arguments, size_t n);

/* The ranks in two command lines of one training. The lines differ in numbers only: at least
 * one is named as a rank, the others as devices. */
struct process_ranks {
	long a, b;
};
/* Tells whether the command lines differ in their ranks, and finds these. */
bool process_differ_in_rank(
	const char *a, size_t n_a, const char *b, size_t n_b, struct process_ranks *ret);
/* Tells whether the arguments may name a rank. false: they differ from no others in a rank. */
bool process_names_rank(const char *arguments, size_t n);

/* A launcher sets these in the environment, as hashes: all ranks of one training have the same
 * `training`, and each has its own `rank`. */
struct process_launch {
	uint64_t training, rank;
};
/* Finds both. false: no launcher has set a rank. */
bool process_launched(const char *environ, size_t n, struct process_launch *ret);

/* Tells whether a launcher has started several ranks, some of them on other machines. */
bool process_has_ranks_elsewhere(const char *environ, size_t n);
