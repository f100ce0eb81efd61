// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse.h"

#include <fuse_opt.h>

/* Functions that are called before mounting. They find errors before libfuse does, because
 * their messages are clearer. Errors: -errno; mount_options and mount_point_check log errors. */

/* Makes libfuse's arguments from the user's -o options and those of joaderfs. Leaves out options
 * that only mount(8) uses, and rw, which mount(8) always passes. -EINVAL: an option is unknown. The
 * caller frees *ret with fuse_opt_free_args. */
must_check int mount_options(const char *options, bool debug, struct fuse_args *ret);

bool mount_options_let_others_in(const struct fuse_args *args);

/* Checks that the path is a directory and nothing is mounted on it. After an error, such as
 * -ENOTDIR, -EBUSY or -ENOTCONN, the caller frees *ret_why, the reason; NULL: no memory. */
must_check int mount_directory_check(const char *path, char **ret_why);

/* Checks that /etc/mtab exists. If it does not, fusermount3 can mount for ordinary users, but can't
 * unmount. After an error, the caller frees *ret_why, the reason; NULL: no memory. */
must_check int mount_helper_check(char **ret_why);

#define MOUNT_DEVICE "/dev/fuse"

/* Returns advice to append to the message about a device that can't be opened, or "". */
const char *mount_device_advice(int err);

/* Checks an inherited or received device. -ENOTTY: it is not /dev/fuse; -ENODEV: not mounted. */
must_check int mount_device_check(int device);

/* Detaches joaderfs mounts of dead daemons from the mount point, runs all checks of this header,
 * and logs failures. -EINVAL: the state directory is below the mount point. A mount point that is
 * not empty causes a warning. Checks only the device if another process has already mounted the
 * device: no daemon answers at the mount point yet, so an access to it would hang. */
must_check int mount_point_check(const struct files_context *context);

/* Unmounts the tree without libfuse, if it is still mounted. device: the mount's /dev/fuse */
void mount_point_unmount(const char *mountpoint, int device);
