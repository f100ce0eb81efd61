// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/*
 * Tells whether JOADERFS_PLAIN=1 in the environment asks for the plain code everywhere. All vector
 * code has a portable counterpart that gives the same results.
 *
 *   Threads: any.   Errors: none.
 */

bool plain_is_asked_for(void);
