// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/*
 * Opens only files within a tree, even if directories change during the call. Follows symbolic
 * links that stay in the tree.
 *
 *   Threads: any; no state.
 *   Errors: -errno; -EXDEV: a link leads out of the tree, or appeared during the call.
 *   Fault: load.openat2 acts as if the system call were missing.
 */

/* path: absolute, and begins with the root's path. Returns a descriptor or -errno. */
must_check int open_beneath(const char *root, const char *path, int flags);
