// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/* Makes socket() fail with EACCES except for AF_UNIX, in this process, its children and
 * the programs that they execute. The process must have PR_SET_NO_NEW_PRIVS. Returns
 * -errno if the kernel has no such filters. The function makes only a system call, so a
 * child that shares the daemon's memory may call it. */
must_check int filter_sockets(void);
