// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/* Forbids this process, its children and the programs that they execute to make sockets
 * other than AF_UNIX: EACCES. The process must have PR_SET_NO_NEW_PRIVS. -errno: the
 * kernel has no such filter. Makes one system call only, and may be called where libc
 * must not be used. */
must_check int filter_sockets(void);
