// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse.h"

/*
 * The control socket that joaderctl speaks to: a Unix stream socket, mode 0600, served by
 * one thread, one request at a time.
 *
 * Request: arguments, each ended by a NUL byte, the first one the command, 1 MiB at
 * most; then the client shuts down its writing side. Response: "ok BYTES\n" or "error
 * BYTES\n", then so many bytes of text; fewer mean that the text was cut off. The daemon
 * hangs up on a client that is silent for more than a few seconds, so that others get
 * their turn.
 *
 *   add [--set SECTION.KEY=VALUE]... FILE TEXT...
 *                   adds the job inis TEXT (FILE: its name in messages) with the settings,
 *                   all or none
 *   rm JOB          or of all jobs whose names match a pattern, as *
 *   ls | status [JOB] | order JOB [EPOCH] | stats | datasets
 *   mount JOB       with a descriptor (SCM_RIGHTS) of /dev/fuse, which the client has
 *                   opened and mounted: it becomes a mount of the job's directory
 *
 *   Owns: the socket file, which it removes at the end. A stale file, where nobody
 *         answers, is replaced; where somebody answers: -EADDRINUSE.
 *   Threads: its own.
 *   Errors: -errno, logged.
 */

struct control;

/* session may be NULL: nothing is mounted. */
must_check int control_new(const struct files_context *context, struct session *session,
	struct control **ret);
void control_free(struct control **control);
