// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/* Tells whether the environment variable JOADERFS_PLAIN=1 asks for plain (portable) code
 * instead of vector code. Both give the same results. Threads: any. */

bool plain_is_asked_for(void);
