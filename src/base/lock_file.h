// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/*
 * A file that one process holds.
 *
 *   Threads: any.   Errors: -errno.
 */

/* The descriptor; the file is made if it is not there. */
must_check int lock_file_open(const char *path);
/* Until the descriptor is closed. -EWOULDBLOCK: another process has had it for two seconds. */
must_check int lock_file_take(int fd);
