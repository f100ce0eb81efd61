// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/open_file_ops.h"

/*
 * Open files that hold several positions.
 *
 *   batch    The open binds all positions to samples, in order, and is answered when all are
 *            prepared. The release consumes all positions. No read waits for a sample.
 *   labels   The open binds all positions to samples. No position is consumed.
 *   tar      The open binds nothing. A read binds the positions of its bytes, in order, and is
 *            answered when their samples are prepared. A position is consumed when its last byte is
 *            read. A position of which only other bytes were read is consumed by the release, or
 *            when reads of other positions displace its slot (TAR_WINDOW).
 *
 *   open -> (waits) -> reply -> read -> (waits) -> reply -> open_file_close
 *
 *   Threads: any; no thread waits. A request that has to wait is answered by the worker that
 *            prepares its last sample, or that continues when the epoch has begun.
 *   Locks: none while replying or calling sched.
 */

/* If an earlier engine opened a file, the first read opens the file again with the same samples,
 * and the release consumes all positions that were bound. */
extern const struct open_file_ops composite_file_ops;
