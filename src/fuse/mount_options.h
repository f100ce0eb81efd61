// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse.h"

#include <fuse_opt.h>

/*
 * Checks before mounting, which give clearer messages than libfuse.
 *
 *   Threads: none.   Errors: -errno, logged.
 */

/* Makes libfuse's arguments from the user's -o options and those of joaderfs. Leaves out
 * options that only mount(8) uses, and rw, which mount(8) passes for each file system.
 * Returns -EINVAL if an option is unknown. The caller frees *ret with
 * fuse_opt_free_args. */
must_check int mount_options(const char *options, bool debug, struct fuse_args *ret);

/* Tells whether the arguments contain allow_other. */
bool mount_options_let_others_in(const struct fuse_args *args);

/* Checks that the path is a directory and nothing is mounted on it. Returns 0 or -errno,
 * such as -ENOTDIR, -EBUSY or -ENOTCONN. After an error, *ret_why is a text with the
 * reason, which the caller frees; NULL if there is no memory for the text. */
must_check int mount_directory_check(const char *path, char **ret_why);

/* Checks that /etc/mtab exists, without which fusermount3 can mount for ordinary users,
 * but not unmount. Returns 0 or -errno. After an error, *ret_why is the reason, as for
 * mount_directory_check. */
must_check int mount_helper_check(char **ret_why);

#define MOUNT_DEVICE "/dev/fuse"

/* Returns the end of the error message for a device that can't be opened: advice for
 * this error, or "". */
const char *mount_device_advice(int err);

/* Checks an inherited or received device. Returns -ENOTTY if it is not /dev/fuse,
 * -ENODEV if it is not mounted. */
must_check int mount_device_check(int device);

/* Runs all checks of this header and logs failures. Returns -EINVAL if the state
 * directory is below the mount point. A mount point that is not empty causes a warning.
 * If another process has already mounted the device, only the device is checked: no
 * daemon answers at the mount point yet. */
must_check int mount_point_check(const struct files_context *context);

/* Unmounts the tree without libfuse, if it is still mounted. device: descriptor of the
 * mount's /dev/fuse. */
void mount_point_unmount(const char *mountpoint, int device);
