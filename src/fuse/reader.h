// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sched/positions.h"

#include <fuse_lowlevel.h>
#include <stdbool.h>

struct sched_program;

/* Tells whether the reader that sent an interrupted request is about to die. The kernel interrupts
 * a request for any signal, even for SIGCHLD, and many readers can't handle an open that fails with
 * EINTR. So the request may fail only for a signal that ends the process. The kernel has turned
 * such a signal into SIGKILL before this function is called. Returns true, too, if /proc does not
 * tell, for instance because the reader is in another name space of pids. */
bool reader_dies(fuse_req_t req);

/* Tells whether a process that has read is still alive, even if /proc does not show it. */
bool reader_lives(const struct sched_program *program);

/* Finds the sender of the request: the thread, its rank (the process for which the thread works),
 * and the rank's script (relatives.h). Reads /proc at the thread's first request, and then at most
 * once a second, since the kernel reuses the numbers of threads. The caller holds no lock. */
struct sched_reader reader_of(fuse_req_t req);
/* Finds the sender of the request, as reader_of does, but keeps the note of reader_has_read.
 * reader_of removes this note, so that only the thread's next open finds the note. */
struct sched_reader reader_peek(fuse_req_t req);

/* Notes that the requesting thread has read to the end the file that it opened last. */
void reader_has_read(fuse_req_t req);

/* Notes that the thread got `epoch` for this inode of current/ (a sample or a batch), because
 * another reader has the inode open in this epoch. The note is valid for the labels, texts and
 * second file of the inode, until the thread opens such a file of another inode. */
void reader_shares(fuse_req_t req, uint64_t number, uint32_t epoch);
/* Returns the epoch that reader_shares noted, or SCHED_CURRENT if there is none. */
uint32_t reader_shared(fuse_req_t req, uint64_t number);
