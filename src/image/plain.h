// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/*
 * What has vector code has plain code beside it, for every processor, with the same
 * results. JOADERFS_PLAIN=1 in the environment asks for the plain code everywhere.
 *
 *   Threads: any.   Errors: none.
 */

bool plain_is_asked_for(void);
