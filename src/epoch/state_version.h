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

/* Checks the directory's version. A directory that no joaderfs has kept jobs in gets the
 * present version, and so does one of version 1. */
must_check int state_version_take(const char *state);
