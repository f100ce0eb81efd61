// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <fuse_lowlevel.h>
#include <stdbool.h>

/*
 * The kernel interrupts a request for any signal, and an open that fails with EINTR
 * because a child exited or the window changed is more than many readers can take. A
 * signal that ends the process has become SIGKILL by then. When nothing can be found out
 * the reader is let go: true.
 */
bool reader_dies(const struct fuse_ctx *reader);

/* The thread, as sched knows it. */
uint64_t reader_of(fuse_req_t req);
