// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stddef.h>

/* Sets how far the kernel reads ahead in files that are mapped, or read through the page cache. The
 * limit is 128 KiB for a FUSE mount. Root can change it through sysfs (the kernel's
 * Documentation/ABI/testing/sysfs-class-bdi). The answer to FUSE_INIT can only lower the limit. */

/* bytes of two requests of the largest size: the kernel sends one while another is answered */
#define READ_AHEAD ((size_t)2 * 1024 * 1024)

/* Raises the limit for the mount at `where` to READ_AHEAD, without accessing the mount, since the
 * daemon does not answer yet. Called before the answer to FUSE_INIT, which must then contain
 * READ_AHEAD. -errno: the limit stays; only root may change it, and sysfs is often read-only. */
int read_ahead_raise(const char *where);
