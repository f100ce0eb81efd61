// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../prepare/joaderfs_prepare.h"

/* A program of [preparation NAME] that answers each sample with the same array.
 * tools/bench/programs.c measures how long this takes. */

int main(void)
{
	static float numbers[128 * 294];
	struct joaderfs_sample sample = {0};
	joaderfs_ready();
	while (joaderfs_next(&sample))
		joaderfs_array(&sample, "<f4", "128, 294", numbers, sizeof(numbers));
	return 0;
}
