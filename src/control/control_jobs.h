// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "control/control_internal.h"
#include "fuse/fuse.h"

/*
 * Adds jobs by their inis. The command add adds all jobs of a request, or none.
 *
 *   Flow: all inis are parsed, then compared with the jobs that are there, then added, then
 *         kept in the state directory. A failure undoes the steps before it.
 *   Threads: one at a time.
 */

#define CONTROL_ADD_USAGE                                                                \
	"add [--import NAME [--at EPOCH:POSITION]] [--template NAME] "                   \
	"[--set SECTION.KEY=VALUE]... FILE "                                             \
	"TEXT..."

/*
 * Adds jobs. arguments: without the command itself; out: receives the messages; message: tells the
 * sender, who becomes the owner of the jobs unless the sender is root or the daemon's user; its
 * descriptor may be the file to import. Leaves a job alone that exists already with the same
 * configuration. false: no job was added, and the messages say why.
 */
bool control_add(const struct files_context *context, struct session *session,
	const struct control_message *message, const char *const *arguments, size_t n,
	FILE *out);

/* Finds the ini in the directory that adds a job of this name at the next start. The caller frees
 * the path; NULL: there is none, or directory is NULL. */
char *control_ini_of(const char *directory, const char *name);
