// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/*
 * Opens files within the tree below `root`, and no others, even if directories change during the
 * call. Follows symbolic links that stay in the tree.
 *
 *   Threads: any; no state.
 *   Errors: -errno; -EXDEV: a link leads out of the tree, or appeared during the call.
 *   Fault: with load.openat2 the system call openat2 seems to be missing.
 */

/* path: absolute, and begins with the root's path. Returns a descriptor or -errno. */
must_check int open_beneath(const char *root, const char *path, int flags);
