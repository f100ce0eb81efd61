// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/*
 * Bytes as inis have them: 900T, 4G, 64K. Without a unit that divides them, those of the
 * largest unit in which they are at least 10, rounded down.   Threads: any.
 */

struct size_text {
	char text[24];
};

struct size_text size_text(uint64_t bytes);
