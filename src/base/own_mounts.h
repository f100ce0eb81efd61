// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Lists the mounts of joaderfs that this process can reach. The scan of a dataset must not enter
 * such a mount: reading there would use up samples of jobs, and could block for ever, because the
 * daemon would wait for itself, or for a daemon that waits for this one.
 *
 *   Flow: main calls own_mounts_begin once. Each scan reads the list by own_mounts_read, and asks
 *         looked_at for the file system of each directory.
 *   Owns: the identity of the mount point. main owns the path, the caller owns the list.
 *   Threads: any, after own_mounts_begin.   Errors: 0 or -errno, not logged.
 */

/* Sets the mount point of this daemon. The mount point need not exist. */
void own_mounts_begin(const char *mountpoint);
/* Tells whether the path is this daemon's mount point or below the mount point. */
bool own_mounts_cover(const char *path);

/* Identifies the file that a path leads to. */
struct looked {
	mode_t mode; /* 0: only `device` is known */
	dev_t device;
	ino_t inode;
};

struct own_mounts {
	dev_t *devices; /* device numbers of all joaderfs mounts */
	size_t n, capacity;
	struct looked point; /* root of this daemon's mount; inode 0: not mounted */
};

/* Lists the mounts. The caller must call own_mounts_free even if this call fails. */
must_check int own_mounts_read(struct own_mounts *ret);
void own_mounts_free(struct own_mounts *mounts);

/* Identifies the file at a path without asking a file server: the call succeeds even for the root
 * of a mount that no process serves. flags: those of fstatat. */
must_check int looked_at(int directory, const char *path, int flags, struct looked *ret);

bool own_mounts_have(const struct own_mounts *mounts, dev_t device);
/* Tells whether the file is the daemon's mount point: the covered directory or the mount's root. */
bool own_mounts_is_point(const struct own_mounts *mounts, const struct looked *looked);
