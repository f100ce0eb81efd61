// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse.h"

/*
 * The control socket that joaderctl speaks to: a Unix stream socket, mode 0600.
 *
 * Request: arguments, each ended by a NUL byte, the first one the command, 1 MiB at
 * most; then the client shuts down its writing side. Answer: frames, each a line and so
 * many bytes of text; then the daemon hangs up.
 *
 *   more BYTES     a part of the text, others follow
 *   ok BYTES       the last part
 *   error BYTES    why the request failed
 *
 *   add [--set SECTION.KEY=VALUE]... FILE TEXT...
 *                   adds the job inis TEXT (FILE: its name in messages) with the settings,
 *                   all or none
 *   add --own-name [--set SECTION.KEY=VALUE]... FILE TEXT
 *                   one job; if its name is taken it gets NAME-2, NAME-3 ...: answers
 *                   with its name, a tab, its directory
 *   add [--own-name] --template NAME [--set SECTION.KEY=VALUE]...
 *                   one job of [template NAME] in the daemon's ini
 *   rm JOB          removes the job, or all jobs whose names match a pattern, as *
 *   restore JOB TEXT [EPOCH:POSITION]
 *                   TEXT: what jobs/JOB/state has shown
 *   export JOB      with a descriptor of a regular file, which is written; add --import
 *                   NAME ... comes with one that is read
 *   ls | cluster | status [JOB] | order JOB [EPOCH] | stats | datasets | top
 *   trace JOB [FROM]  what its readers opened and closed since the event FROM
 *   dataset ls | rm DATASET | rescan DATASET | add FILE TEXT
 *                   TEXT: an ini with [dataset NAME]; FILE: its absolute name, which
 *                   relative paths start from
 *   grant JOB | revoke JOB
 *   upgrade [PROGRAM]  another engine, of this program or another one
 *   mount JOB       with a descriptor (SCM_RIGHTS) of /dev/fuse, which the client has
 *                   opened and mounted: it becomes a mount of the job's directory
 *
 * No client waits for another one. A client may be silent, or not read, for as long as it
 * likes. When there are more than 256, or their requests and answers take more than 32
 * MiB, the client that is silent longest is hung up on.
 *
 * A granted job has a socket of its own, below the state directory, whose clients can
 * mount and read this job only: mount JOB, status JOB, order JOB [EPOCH]. There may be 16
 * of them, with requests of 4096 bytes.
 *
 *   Owns: the socket file, which it removes at the end. A stale file, where nobody
 *         answers, is replaced; where somebody answers: -EADDRINUSE.
 *   Threads: three of its own, for clients, for the commands that change jobs (add, rm,
 *         restore, mount), and for those that change datasets. Each carries them out one
 *         after the other.
 *   Errors: -errno, logged.
 */

struct control;

/* Opens the socket and starts the threads. session: NULL if nothing is mounted. */
must_check int control_new(const struct files_context *context, struct session *session,
	struct control **ret);
void control_free(struct control **control);
