// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/*
 * A lock file, which one process holds at a time.
 *
 *   Threads: any.   Errors: -errno.
 */

/* Opens the file, and makes it if it is not there. Returns the descriptor. */
must_check int lock_file_open(const char *path);
/* Takes the lock until the descriptor is closed. -EWOULDBLOCK: another process has held it for
 * two seconds. */
must_check int lock_file_take(int fd);
