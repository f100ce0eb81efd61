// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/*
 * Tells whether an error of a system call may be transient, so that the next try may succeed.
 * Examines the file's directory and its file system.
 */
bool load_error_passes(int error, const char *path);
