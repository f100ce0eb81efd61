// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tells the role of a process from its command line and its environment. Each of the two is an
 * array of n bytes, as in /proc/ID/cmdline: each argument or variable ends with \0. If the last one
 * lacks its \0, it is truncated, and is ignored. The functions are pure. */

/* A process that Python's multiprocessing, multiprocess or loky started for its parent. Its command
 * line has the interpreter's options, and then exactly the words that these packages write. */
enum process_helper {
	HELPER_NONE,
	HELPER_WORKS, /* a worker */
	HELPER_FORKS, /* the server that forks workers */
	HELPER_TRACKS /* the process that removes semaphores and shared memory at the end */
};
enum process_helper process_helper(const char *arguments, size_t n);

/* The ranks of two processes of one training, from their command lines. The command lines differ
 * only in numbers. At least one of these numbers is a rank, as in --rank 1. The other numbers that
 * differ are numbers of devices, as in cuda:1. */
struct process_ranks {
	long a, b;
};
/* Tells whether the command lines differ in their ranks. *ret: the ranks. */
bool process_differ_in_rank(
	const char *a, size_t n_a, const char *b, size_t n_b, struct process_ranks *ret);
/* Tells whether the arguments may name a rank. If not, process_differ_in_rank returns false. */
bool process_names_rank(const char *arguments, size_t n);

/* Hashes of the environment variables that a launcher sets. All ranks of a training have the same
 * `training`; each has its own `rank`. */
struct process_launch {
	uint64_t training, rank;
};
/* Returns false if no launcher has set a rank in the environment of n bytes. */
bool process_launched(const char *environ, size_t n, struct process_launch *ret);

/* Tells whether a launcher has started several ranks, some of them on other machines. */
bool process_has_ranks_elsewhere(const char *environ, size_t n);
