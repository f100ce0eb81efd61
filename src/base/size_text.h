// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdint.h>

/* Prints a number of bytes as users write it in inis: 900T, 4G, 64K. Chooses the largest unit in
 * which the number is at least ten, or is a whole number. Rounds down. Threads: any. */

struct size_text {
	char text[24];
};

struct size_text size_text(uint64_t bytes);
