// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/* Forbids this process, its children and the programs that they execute to create sockets other
 * than AF_UNIX; socket() then fails with EACCES. The process must have PR_SET_NO_NEW_PRIVS. -errno:
 * the kernel has no such filter. The function makes only one system call, so it may be called where
 * libc must not be used. */
must_check int filter_sockets(void);
