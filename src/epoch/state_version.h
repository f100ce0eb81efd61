// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/*
 * The version of the state directory's format, in the file <state>/version.
 *
 *   Flow: main calls state_version_take once, under the directory's lock, before it reads other
 *         files and before other threads exist.
 *   Errors, logged: -EINVAL: another version, and no file was changed; -errno of files.
 */

#define STATE_VERSION 2

/* Checks the version of the state directory. Writes the present version if the directory has
 * version 1 or has never held jobs. */
must_check int state_version_take(const char *state);
