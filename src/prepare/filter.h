// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/* Makes socket() fail with EACCES for every family but AF_UNIX. This holds for the process, its
 * children and their programs. The process must have PR_SET_NO_NEW_PRIVS. filter_sockets makes only
 * a system call, so a child that shares the daemon's memory may call it. -errno: the kernel has no
 * such filters. */
must_check int filter_sockets(void);
