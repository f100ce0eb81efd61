// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "view/view.h"

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
 * A directory, nothing mounted on it, and the state not below it. -ENOENT, -ENOTDIR,
 * -EBUSY, -ENOTCONN, -EINVAL ...
 */
must_check int mount_point_check(const struct view_context *context);
