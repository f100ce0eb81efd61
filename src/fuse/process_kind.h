// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * What a command line tells of a process: n bytes as in /proc/ID/cmdline, each argument with
 * its \0; what is cut off at the end is no argument. Pure.
 */

/* Whether Python's multiprocessing, multiprocess or loky has started it for its parent: the
 * interpreter's options, and then exactly what these packages write. */
bool process_is_helper(const char *arguments, size_t n);
