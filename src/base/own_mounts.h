// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Mounts of joaderfs that this process can reach. A scan must not enter one: it would take
 * samples from jobs, and wait for itself, or for a daemon that waits for it.
 *
 *   Flow: main calls own_mounts_begin once; each scan reads the list, and asks for each
 *         directory which file system it lies on, by looked_at, which nobody has to answer.
 *   Owns: the identity of the mount point. The list belongs to the caller.
 *   Threads: any, after own_mounts_begin.   Locks: none.
 *   Errors: 0 or -errno, not logged.
 */

/* The directory that this daemon mounts on, or has mounted on. It need not be there. */
void own_mounts_begin(const char *mountpoint);

/* What a path leads to. */
struct looked {
	mode_t mode; /* 0: only the device is known */
	dev_t device;
	ino_t inode;
};

struct own_mounts {
	dev_t *devices; /* of all mounts of joaderfs */
	size_t n, capacity;
	struct looked point; /* the root of this daemon's mount; inode 0: not mounted */
};

/* The result is freed by own_mounts_free, also after a failure. */
must_check int own_mounts_read(struct own_mounts *ret);
void own_mounts_free(struct own_mounts *mounts);

/* Does not ask the file system whether anything has changed, so that the root of a mount
 * where nobody answers can be looked at. flags: of fstatat. */
must_check int looked_at(int directory, const char *path, int flags, struct looked *ret);

bool own_mounts_have(const struct own_mounts *mounts, dev_t device);
/* Whether it is the directory that this daemon mounts on, before or after. */
bool own_mounts_is_point(const struct own_mounts *mounts, const struct looked *looked);
