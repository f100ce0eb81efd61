// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

/* Forbids this process, its children and the programs that they execute to make sockets other
 * than AF_UNIX: EACCES. The process has given up new privileges before. -errno: the kernel
 * can't. It makes one system call, and may be called where libc can't be trusted. */
must_check int filter_sockets(void);
