// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stddef.h>

/*
 * How far the kernel reads ahead in files that are mapped, or read through the page cache:
 * 128 KiB for a FUSE mount, unless root writes another number to sysfs (the kernel's
 * Documentation/ABI/testing/sysfs-class-bdi). A mount's first answer can only lower it.
 */

/* Two requests of the largest size: while one is copied, the next one is on its way. */
#define READ_AHEAD ((size_t)2 * 1024 * 1024) /* bytes */

/*
 * Raises the limit of the mount at `where`. Called before the answer to FUSE_INIT, which then
 * has to name READ_AHEAD. The mount itself is not asked anything, since nobody answers yet.
 *
 *   Threads: any.   Errors: -errno, and the kernel's limit stays. Only root may, and in most
 *   containers sysfs can't be written.
 */
int read_ahead_raise(const char *where);
