// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/*
 * Opens files of a tree, and no others even if directories are changed meanwhile.
 * Symbolic links are followed while they stay in the tree.
 *
 *   Threads: any; no state.
 *   Errors: -errno; -EXDEV: a link leads out of the tree, or has just been changed.
 *   Faults: load.openat2, as if the system call were missing.
 */

/* Opens `path`, which is absolute and begins with the root's path. Returns a descriptor. */
must_check int open_beneath(const char *root, const char *path, int flags);
