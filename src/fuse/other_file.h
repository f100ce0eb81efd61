// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/open_file_ops.h"

/*
 * Files of layout mirror that are no samples. Each read opens the source file. An open file has no
 * state, so the next engine can serve its reads.
 *
 *   Owns: nothing.   Threads: workers read, and the kernel's page cache keeps the bytes.
 *   Errors: EIO, logged: the file has changed since the scan, or can't be read.
 */

extern const struct open_file_ops other_file_ops;
