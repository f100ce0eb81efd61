// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>

/*
 * Makes a directory of the state with mode 0700 if it is not there, and checks it. It has to
 * belong to the user whom the daemon runs as, and nobody else may write to it, so nobody else
 * can put links or files into it. With may_be_link its name may be a link to such a directory.
 * The name of a new directory is on the disk when the function returns.
 *
 *   Errors: -errno, -EPERM for a directory of somebody else or that others may write to,
 *           -ENOTDIR; logged.
 */
must_check int own_directory(const char *path, bool may_be_link);
/* Makes and checks a directory that a user has configured. `key` begins the messages:
 * "FILE:[SECTION]:KEY: ". */
must_check int own_directory_of(const char *key, const char *path, bool may_be_link);
