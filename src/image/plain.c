// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/plain.h"

#include <stdlib.h>
#include <string.h>

bool plain_is_asked_for(void)
{
	const char *value = getenv("JOADERFS_PLAIN");
	return value && strcmp(value, "1") == 0;
}
