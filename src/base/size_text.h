// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/*
 * Prints a number of bytes as in inis: 900T, 4G, 64K. If no unit divides the number, rounds it down
 * to a multiple of the largest unit that it contains at least 10 times.   Threads: any.
 */

struct size_text {
	char text[24];
};

struct size_text size_text(uint64_t bytes);
