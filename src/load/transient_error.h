// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/*
 * Tells whether an error of a system call on a file says nothing about the file, so that the
 * next try may succeed. Looks at the file's directory and its file system.
 */
bool load_error_passes(int error, const char *path);
