// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/*
 * Prints bytes as inis have them: 900T, 4G, 64K. If no unit divides the bytes, rounds
 * down to a multiple of the largest unit of which there are at least 10.   Threads: any.
 */

struct size_text {
	char text[24];
};

struct size_text size_text(uint64_t bytes);
