// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse.h"

#include <fuse_opt.h>

/*
 * What is checked before mounting, so that the message is ours and clear.
 *
 *   Threads: none.   Errors: -errno, logged.
 */

/*
 * libfuse's arguments for the -o options that the user gave, with ours (read-only, the
 * names in the mount table) added. What only mount(8) cares about, and rw, which it
 * passes for every file system, is left out. -EINVAL: an unknown option. The caller
 * frees with fuse_opt_free_args.
 */
must_check int mount_options(const char *options, bool debug, struct fuse_args *ret);

/*
 * A directory with nothing mounted on it. -ENOENT, -ENOTDIR, -EBUSY, -ENOTCONN ...:
 * *ret_why says so, NULL when there is no memory; the caller frees it.
 */
must_check int mount_directory_check(const char *path, char **ret_why);

/*
 * fusermount3, which mounts for ordinary users, does so without /etc/mtab, but does not
 * unmount without it. -ENOENT: *ret_why as above.
 */
must_check int mount_helper_check(char **ret_why);

/* Both, and the state not below it (-EINVAL); logged. */
must_check int mount_point_check(const struct files_context *context);
