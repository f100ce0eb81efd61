// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/* A lock file: one process at a time holds its lock. Threads: any. Errors: -errno. */

/* Creates the file if it does not exist. Returns the descriptor. */
must_check int lock_file_open(const char *path);
/* Takes the lock, until fd is closed. -EWOULDBLOCK: another process held it for two seconds. */
must_check int lock_file_take(int fd);
