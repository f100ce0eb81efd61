// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Tells whether JOADERFS_PLAIN=1 in the environment asks for portable instead of vector code. */
static inline bool plain_is_asked_for(void)
{
	const char *value = getenv("JOADERFS_PLAIN");
	return value && strcmp(value, "1") == 0;
}
