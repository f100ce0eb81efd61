// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/* Makes socket() fail with EACCES for all sockets except AF_UNIX, in this process, in its children
 * and in the programs that they execute. The process must have PR_SET_NO_NEW_PRIVS. -errno: the
 * kernel has no such filter. Calls no function of libc, so a child that shares the daemon's memory
 * may call it. */
must_check int filter_sockets(void);
