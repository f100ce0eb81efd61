// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/*
 * Opens only files within a tree, even if directories change during the call. Symbolic links are
 * followed as long as they stay in the tree.
 *
 *   Threads: any; no state.
 *   Errors: -errno; -EXDEV: a link leads out of the tree, or has just changed.
 *   Fault: load.openat2 acts as if the system call were missing.
 */

/* Opens `path`, which is absolute and begins with the path of the root. Returns a descriptor. */
must_check int open_beneath(const char *root, const char *path, int flags);
