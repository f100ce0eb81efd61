// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/*
 * Tells whether the same system call on the file may succeed later. error: its errno. Looks at the
 * file's directory and file system.
 */
bool load_error_passes(int error, const char *path);
