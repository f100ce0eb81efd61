// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Living processes, as /proc describes them. Nothing is cached. Threads: any. */

#define PROCESS_TEXT 4096

struct process {
	long id, parent, session;
	uint64_t start;		    /* start time, in clock ticks since boot */
	char command[PROCESS_TEXT]; /* the arguments, each ended by \0 */
	size_t n_command;
};

/* Reads as much of a file in /proc/ID as fits, and appends \0. Returns false if *ret_n is 0. */
bool process_read_file(long id, const char *name, char *ret, size_t room, size_t *ret_n);
/* Reads all fields of *ret from /proc. Returns false if there is no such process. */
bool process_read(long id, struct process *ret);
/* Reads all fields of *ret except the command. id: a process or a thread. */
bool process_read_stat(long id, struct process *ret);
/* Returns the process of a thread. If /proc does not show the thread, returns `thread`. */
long process_of_thread(long thread);

/* Returns a number that no other process since boot has. The number is odd, so it is never 0. */
uint64_t process_number(const struct process *process);
/* Tells whether both processes run the same program file; true if this can't be determined. */
bool process_runs_same(const struct process *a, const struct process *b);

typedef void process_visit(void *context, long child);
void process_children(long id, process_visit *visit, void *context);
