// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>

/*
 * Creates a directory for the daemon's state with mode 0700 if it does not exist, and checks it. It
 * must belong to the daemon's user, and no other user may write to it, so that nobody can put links
 * or files into it. may_be_link: `path` may be a link to such a directory. A new directory's name
 * is on disk when the function returns.
 *
 *   Errors: -errno, logged. -EPERM: the directory belongs to another user, or others may write to
 *         it; -ENOTDIR: `path` is a file, or a link that is not allowed.
 */
must_check int own_directory(const char *path, bool may_be_link);
/* Does the same for a directory that an ini names. key: prefix of messages:
 * "FILE:[SECTION]:KEY: ". */
must_check int own_directory_of(const char *key, const char *path, bool may_be_link);
