// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sched/positions.h"

#include <fuse_lowlevel.h>
#include <stdbool.h>

struct sched_program;

/*
 * Tells whether the reader that has sent an interrupted request is about to die. The kernel interrupts a
 * request for any signal, but many readers can't handle an open that fails with EINTR
 * because a child exited or a window changed. A signal that ends the process has become
 * SIGKILL by then. true also if
 * nothing can be found out, as of a reader in another name space of pids: its request is given up.
 */
bool reader_dies(fuse_req_t req);

/* Tells whether a process that has read still lives; true also when /proc does not tell. */
bool reader_lives(const struct sched_program *program);

/*
 * Finds the sender of the request: the thread, its rank (the process that it works for), and the
 * rank's script. /proc is read once for a thread, and looked at again after a second, since the
 * kernel gives its number to another thread some day. The caller holds no lock.
 *
 * relatives.h tells which process a thread works for, and which others are ranks of one script
 * with it.
 */
struct sched_reader reader_of(fuse_req_t req);
/* Finds the sender of a request that opens no sample yet: the note of reader_has_read stays for
 * the next reader_of. */
struct sched_reader reader_peek(fuse_req_t req);

/* Notes that the thread of the request has read its last opened file to the end. */
void reader_has_read(fuse_req_t req);

/* Notes that, in current/, the thread was given another epoch's content of the file, since
 * another reader keeps that epoch open. The note holds for this file and its label until the
 * thread opens another file. */
void reader_shares(fuse_req_t req, uint64_t number, uint32_t epoch);
/* Returns the noted epoch; SCHED_CURRENT: there is none. */
uint32_t reader_shared(fuse_req_t req, uint64_t number);
