// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/*
 * Tells whether JOADERFS_PLAIN=1 in the environment asks for plain (portable) code instead of code
 * with vector instructions. All vector code has a plain counterpart that gives the same results.
 *
 *   Threads: any.   Errors: none.
 */

bool plain_is_asked_for(void);
