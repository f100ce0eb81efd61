// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "control/control_internal.h"
#include "fuse/fuse.h"

/*
 * Jobs by their inis. The command add adds all or none.
 *
 *   Flow: all inis are parsed, then compared with the jobs that are there, then added, then
 *         kept in the state directory. What fails is taken back.
 *   Threads: one at a time.
 */

#define CONTROL_ADD_USAGE                                                                \
	"add [--import NAME [--at EPOCH:POSITION]] [--template NAME] "                   \
	"[--set SECTION.KEY=VALUE]... FILE "                                             \
	"TEXT..."

/* Adds jobs. arguments: those behind the command; out: the messages; message: it tells the
 * sender, who owns the jobs unless it is root or the daemon's user, and it may carry the file
 * to import. A job that is there already with the same configuration is left as it is. false:
 * no job was added, and the messages say why. */
bool control_add(const struct files_context *context, struct session *session,
	const struct control_message *message, const char *const *arguments, size_t n,
	FILE *out);

/* Finds the ini in the directory whose job has this name, and is added at the next start. The
 * caller frees the path; NULL: there is none, or directory is NULL. */
char *control_ini_of(const char *directory, const char *name);
