// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sched/positions.h"

#include <fuse_lowlevel.h>
#include <stdbool.h>

struct sched_program;

/*
 * Whether the reader of an interrupted request is about to die. The kernel interrupts a
 * request for any signal, but many readers can't handle an open that fails with EINTR
 * because a child exited or a window changed. A signal that ends the process has become
 * SIGKILL by then. true also when nothing can be found out: the reader is let go.
 */
bool reader_dies(const struct fuse_ctx *reader);

/* Whether a process that has read lives; true also when /proc does not tell. */
bool reader_lives(const struct sched_program *program);

/*
 * Who sent the request: the thread, the process that it works for, and what this process
 * was started as. Read from /proc once for a thread, and looked at again after a second,
 * since the kernel gives its number to another thread some day. No lock held.
 *
 * relatives.h tells which process a thread works for, and which others are ranks of one script
 * with it.
 */
struct sched_reader reader_of(fuse_req_t req);
/* The same for who does not open a sample yet: what it has read is told again. */
struct sched_reader reader_peek(fuse_req_t req);

/* What the thread of the request opened last, it has read to the end. */
void reader_has_read(fuse_req_t req);

/* In current/, the thread was given another epoch's content of the file, since somebody
 * keeps that open. Until the thread opens another file, the epoch holds for this one and
 * its label; SCHED_CURRENT: there is none. */
void reader_shares(fuse_req_t req, uint64_t number, uint32_t epoch);
uint32_t reader_shared(fuse_req_t req, uint64_t number);
