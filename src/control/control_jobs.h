// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

struct request;

/*
 * Adds jobs by their inis. The command add adds all jobs of a request, or none.
 *
 *   Flow: all inis are parsed, compared with the existing jobs, added, and saved in the
 *         state directory. A failure undoes the steps before it.
 *   Threads: one at a time.
 */

#define CONTROL_ADD_USAGE                                                                \
	"add [--import NAME [--at EPOCH:POSITION]] [--template NAME] "                   \
	"[--set SECTION.KEY=VALUE]... FILE "                                             \
	"TEXT..."

/* Adds jobs. The sender of the request becomes the jobs' owner, unless the sender is root
 * or the daemon's user. client->descriptor is the file to import, if the command imports
 * one. A job that exists with the same configuration is left as it is. Returns false if
 * no job was added; the answer has the reason. */
bool control_add(const struct request *request);

/* Finds the ini in the directory from which the daemon's next start would add the job.
 * Returns NULL if there is none, or if `directory` is NULL. The caller frees the
 * path. */
char *control_ini_of(const char *directory, const char *name);
