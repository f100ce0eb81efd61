// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A living process, as /proc tells of it. Nothing is kept; any thread may ask. */

#define PROCESS_TEXT 4096

struct process {
	long id, parent, session;
	uint64_t start;		    /* clock ticks since the machine was started */
	char command[PROCESS_TEXT]; /* its arguments, each with its \0 */
	size_t n_command;
};

/* Reads as much of a file in /proc/ID as there is room for, and ends it with a \0. false:
 * nothing was read. */
bool process_read_file(long id, const char *name, char *ret, size_t room, size_t *ret_n);
/* Reads all members. false: there is no such process. */
bool process_read(long id, struct process *ret);
/* Reads all members but the command. id: a process or a thread. */
bool process_read_stat(long id, struct process *ret);
/* Returns the process of a thread, or `thread` where /proc does not tell. */
long process_of_thread(long thread);

/* Returns an odd number that no other process has had since the machine was started. */
uint64_t process_number(const struct process *process);
/* Tells whether both run one program file; true also where it can't be found out. */
bool process_runs_same(const struct process *a, const struct process *b);

/* Calls visit with each child of the process. */
typedef void process_visit(void *context, long child);
void process_children(long id, process_visit *visit, void *context);
