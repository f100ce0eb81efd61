// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/* Makes socket() fail with EACCES for all sockets except AF_UNIX, in this process, its children and
 * the programs that they execute. The process must have PR_SET_NO_NEW_PRIVS. -errno: the kernel has
 * no such filter. Makes one system call and calls nothing of libc, so it may be called where libc
 * must not be used. */
must_check int filter_sockets(void);
