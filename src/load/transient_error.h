// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/*
 * Tells whether an error of a system call on the file may be transient, so that the next try may
 * succeed. error: an errno. Looks at the file's directory and file system.
 */
bool load_error_passes(int error, const char *path);
