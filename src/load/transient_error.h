// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/* Tells whether a system call that failed for the file with this errno may succeed later. EIO is
 * transient only if the directory of `path` is on another machine, or can't be examined; ENOENT,
 * ENOTDIR and EACCES are transient only if this directory can't be entered. */
bool load_error_passes(int error, const char *path);
