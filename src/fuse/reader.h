// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sched/positions.h"

#include <fuse_lowlevel.h>
#include <stdbool.h>

struct sched_program;

/*
 * Tells whether the reader that sent an interrupted request is about to die. The kernel interrupts
 * a request for any signal. Many readers can't handle an open that fails with EINTR. So signals
 * that do not end the process, for instance because a child exited, must not make the request fail.
 * A signal that ends the process has become SIGKILL before this function is called. Also returns
 * true if this can't be determined, for instance if the reader is in another name space of pids;
 * the request is then given up.
 */
bool reader_dies(fuse_req_t req);

/* Tells whether a process that has read is still alive. Also true if /proc does not show it. */
bool reader_lives(const struct sched_program *program);

/*
 * Finds the sender of the request: the thread, its rank (the process for which it works), and the
 * rank's script. /proc is read at the thread's first request, and again when a second has passed,
 * since the kernel reuses the numbers of threads. The caller holds no lock.
 *
 * relatives.h defines the process for which a thread works, and the ranks of one script.
 */
struct sched_reader reader_of(fuse_req_t req);
/* Finds the sender of a request that does not open a sample. Unlike reader_of, does not clear the
 * note that reader_has_read has made. */
struct sched_reader reader_peek(fuse_req_t req);

/* Notes that the requesting thread has read its last opened file to the end. */
void reader_has_read(fuse_req_t req);

/* Notes that, in current/, the thread was given the content of another epoch, because another
 * reader keeps that epoch open. The note holds for this file and its label until the thread opens
 * another file. */
void reader_shares(fuse_req_t req, uint64_t number, uint32_t epoch);
/* Returns the epoch noted by reader_shares; SCHED_CURRENT: none. */
uint32_t reader_shared(fuse_req_t req, uint64_t number);
