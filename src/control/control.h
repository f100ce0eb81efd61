// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse.h"

/*
 * The control socket for joaderctl: a Unix stream socket, mode 0600, or 0660 with socket_group.
 *
 * Request: at most 1 MiB of NUL-ended arguments, the command first; then the client shuts down its
 * writing side. Answer: frames, each a line and BYTES bytes of text; then the daemon hangs up.
 *
 *   more BYTES     a part of the text; others follow
 *   ok BYTES       the last part
 *   error BYTES    the reason why the request failed
 *
 *   add [--set SECTION.KEY=VALUE]... FILE TEXT...
 *                   adds the job inis TEXT with the settings, all or none; FILE: name in messages
 *   add --own-name [--set SECTION.KEY=VALUE]... FILE TEXT
 *                   adds one job; if its name is taken, it is called NAME-2, NAME-3 ...; answers
 *                   with its name, a tab, its directory
 *   add [--own-name] --template NAME [--set SECTION.KEY=VALUE]...
 *                   adds one job of [template NAME] in the daemon's ini
 *   rm JOB          removes the job, or all jobs whose names match a pattern such as *
 *   restore JOB TEXT [EPOCH:POSITION]
 *                   restores the job's progress from TEXT, an earlier content of jobs/JOB/state
 *   export JOB      writes a checkpoint of the job to the regular file whose descriptor the request
 *                   carries (SCM_RIGHTS)
 *   add --import NAME [--at EPOCH:POSITION] ...
 *                   adds one job that continues from an exported checkpoint; the request carries
 *                   the descriptor of the checkpoint's file; NAME: the file's name in messages
 *   ls | cluster | status [JOB] | order JOB [EPOCH] | stats | datasets [DATASET] | top | explain
 *   cluster-forget NODE|TRAINING
 *   cluster-resize TRAINING RANKS [LOCAL_RANKS]
 *   trace JOB [FROM]  opens and closes by the job's readers, from event number FROM on
 *   dataset ls | rm DATASET | rescan DATASET | add FILE TEXT
 *                   TEXT: an ini with [dataset NAME]; FILE: its absolute name, for relative paths
 *   grant JOB | revoke JOB
 *                   makes or removes a socket for this job alone
 *   upgrade [PROGRAM]  starts another engine process, of this program or of PROGRAM
 *   mount JOB       shows the job's directory in a mount of the client; the request carries the
 *                   descriptor of the /dev/fuse that the client has opened and mounted
 *
 * No client waits for another one. A client may be silent, or not read, for any time. If there are
 * more than 256 clients, or their requests and answers take more than 32 MiB, the daemon hangs up
 * on the client that has been silent for the longest time.
 *
 * A granted job has its own socket below the state directory. Its clients can mount and read only
 * this job: mount JOB, status JOB, order JOB [EPOCH]. The socket accepts at most 16 clients, and
 * requests of at most 4096 bytes.
 *
 *   Owns: the socket file, which it removes at the end. A stale file, at which no process answers,
 *         is replaced. If a process answers: -EADDRINUSE.
 *   Threads: one for clients and short commands; one for long commands (add, rm, restore, export,
 *            mount, cluster-forget, cluster-resize, upgrade); one for the commands that change
 *            datasets. The last two carry out one command at a time.
 *   Errors: -errno, logged.
 */

struct control;

/* Opens the socket and starts the threads. session: NULL if nothing is mounted. */
must_check int control_new(const struct files_context *context, struct session *session,
	struct control **ret);
void control_free(struct control **control);
