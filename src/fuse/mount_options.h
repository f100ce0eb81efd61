// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "fuse/fuse.h"

#include <fuse_opt.h>

/*
 * Checks before mounting, so that the message is ours and clear.
 *
 *   Threads: none.   Errors: -errno, logged.
 */

/*
 * Makes libfuse's arguments from the -o options that the user gave and ours: read-only,
 * and the names in the mount table. Options for mount(8) alone are left out, and so is
 * rw, which mount(8) passes for every file system. -EINVAL: an unknown option. The
 * caller frees them with fuse_opt_free_args.
 */
must_check int mount_options(const char *options, bool debug, struct fuse_args *ret);

/* Tells whether allow_other is among the arguments. */
bool mount_options_let_others_in(const struct fuse_args *args);

/*
 * Checks that the path is a directory with nothing mounted on it. -ENOENT, -ENOTDIR, -EBUSY,
 * -ENOTCONN ...: *ret_why says so, or is NULL if there is no memory. The caller frees it.
 */
must_check int mount_directory_check(const char *path, char **ret_why);

/*
 * Checks that /etc/mtab exists. fusermount3 mounts without it for ordinary users, but does not
 * unmount without it. -ENOENT: *ret_why as above.
 */
must_check int mount_helper_check(char **ret_why);

#define MOUNT_DEVICE "/dev/fuse"

/* Returns advice for a device that can't be opened, as the end of a message; or "". */
const char *mount_device_advice(int err);

/* Checks an inherited or received device. -ENOTTY: it is not /dev/fuse; -ENODEV: it is not
 * mounted. */
must_check int mount_device_check(int device);

/* Does all of these checks and logs what fails. -EINVAL: the state directory lies below the
 * mount point. A mount point that is not empty gets a warning. If somebody else has mounted it,
 * only the device is checked: nobody answers there yet. */
must_check int mount_point_check(const struct files_context *context);

/* Unmounts the tree without libfuse, unless it is unmounted already. device: the mount's. */
void mount_point_unmount(const char *mountpoint, int device);
