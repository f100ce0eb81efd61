// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <fuse_lowlevel.h>
#include <stdbool.h>

/*
 * Whether the reader of an interrupted request is about to die. The kernel interrupts a
 * request for any signal, but many readers can't handle an open that fails with EINTR
 * because a child exited or a window changed. A signal that ends the process has become
 * SIGKILL by then. true also when nothing can be found out: the reader is let go.
 */
bool reader_dies(const struct fuse_ctx *reader);

/* Sched's number for the thread that sent the request. */
uint64_t reader_of(fuse_req_t req);
