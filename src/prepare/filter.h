// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/* Makes socket() fail with EACCES except for AF_UNIX, in this process, its children and their
 * programs. The process must have PR_SET_NO_NEW_PRIVS. Makes only a system call, so a child that
 * shares the daemon's memory may call it. -errno: the kernel has no such filters. */
must_check int filter_sockets(void);
