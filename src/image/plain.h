// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>

/* Tells whether JOADERFS_PLAIN=1 in the environment asks for portable instead of vector code. */

bool plain_is_asked_for(void);
