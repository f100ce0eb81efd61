// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/*
 * The version of the state directory's format, in the file <state>/version.
 *
 *   Flow: main calls it once, when it holds the directory's lock and before anything else.
 *   Threads: none yet.   Errors: -EINVAL for another version, and nothing was touched;
 *   -errno of files. Logged.
 */

#define STATE_VERSION 2

/* Checks the version of the state directory. If the directory has never held jobs, or has version
 * 1, writes the present version. */
must_check int state_version_take(const char *state);
