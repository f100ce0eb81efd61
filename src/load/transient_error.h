// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/* Tells whether a system call that failed for the file with this errno may succeed later. Some
 * errors are transient only if the directory of `path` is missing or on another machine. */
bool load_error_passes(int error, const char *path);
