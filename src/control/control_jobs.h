// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

struct request;

/*
 * Adds jobs by their inis: all jobs of a request, or none.
 *
 *   Flow: all inis are parsed, compared with the existing jobs, added, and saved in the state
 *         directory. A failure undoes the steps before it.
 *   Threads: one at a time.
 */

#define CONTROL_ADD_USAGE                                                                \
	"add [--import NAME [--at EPOCH:POSITION]] [--template NAME] "                   \
	"[--set SECTION.KEY=VALUE]... FILE "                                             \
	"TEXT..."

/* Adds jobs. Their owner is the request's sender, unless the sender is root or the daemon's user.
 * client->descriptor is the file to import, if there is one. A job that exists with the same
 * configuration stays as it is. Returns false if no job was added; the answer has the reason. */
bool control_add(const struct request *request);

/* Finds the ini in `directory` from which the daemon's next start would add the job. NULL: there is
 * none, or `directory` is NULL. The caller frees the path. */
char *control_ini_of(const char *directory, const char *name);
