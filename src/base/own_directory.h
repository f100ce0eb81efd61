// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>

/*
 * Creates a directory for the daemon's state with mode 0700 if it does not exist, and checks it.
 * The directory must belong to the daemon's user, and no other user may write to it, so that nobody
 * can put links or files into it. may_be_link: `path` may also be a link to such a directory. When
 * the function returns, the name of a new directory is on disk.
 *
 *   Errors: -errno, logged. -EPERM: the directory belongs to another user, or others may write to
 *           it; -ENOTDIR: `path` is a file, or a link that is not allowed.
 */
must_check int own_directory(const char *path, bool may_be_link);
/* Creates and checks a directory that a user has configured. key: "FILE:[SECTION]:KEY: ", the
 * beginning of messages. */
must_check int own_directory_of(const char *key, const char *path, bool may_be_link);
