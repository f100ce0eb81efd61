// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/*
 * joaderctl mount: mounts /dev/fuse in the name space of the caller, and has the daemon serve it.
 *
 *   a detached mount is made -> the daemon gets its descriptor, and serves the mount ->
 *   the mount is attached to the directory
 *
 * A detached mount vanishes when its descriptors are closed. So if joaderctl ends before the last
 * step, nothing is left, and nobody ever sees a directory that is not served. For a user who is not
 * allowed to mount, fusermount3 mounts on the directory at once; a guard process unmounts the
 * directory if joaderctl ends before the daemon serves the mount.
 */

/* Mounts the job on the directory. Returns the exit status. Errors are printed. */
int mount_job(const char *socket_path, const char *job, const char *directory,
	bool allow_other);
