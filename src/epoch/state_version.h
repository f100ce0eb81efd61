// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/*
 * What wrote a state directory: <state>/version says so.
 *
 *   Flow: once, by main, when it holds the directory's lock and before anything else.
 *   Threads: none yet.   Errors: -EINVAL, of another version, and nothing was touched;
 *   -errno of files. Logged.
 */

#define STATE_VERSION 2

/* A directory that no joaderfs has kept jobs in gets this version. */
must_check int state_version_take(const char *state);
