// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdbool.h>

/*
 * A directory of the state: made with mode 0700 if it is not there. It has to be a
 * directory that belongs to the user whom the daemon runs as and that nobody else may
 * write to, so nobody else can put links or files into it; with may_be_link its name may
 * be a link to such a one. When it was made, its name is on the disk.
 *
 *   Errors: -errno, -EPERM for a directory of somebody else or that others may write to,
 *           -ENOTDIR; logged.
 */
must_check int own_directory(const char *path, bool may_be_link);
/* The same of one that was chosen; key: what messages begin with, as "FILE:[SECTION]:KEY: ". */
must_check int own_directory_of(const char *key, const char *path, bool may_be_link);
