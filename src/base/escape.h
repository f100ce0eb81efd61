// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdio.h>

/*
 * Prints foreign text, as a file name, so that it stays on one line: backslash, tab,
 * newline and other control characters are escaped as \\, \t, \n and \xHH.
 */

void escape_print(FILE *out, const char *text);

/*
 * For a text that has names in it, some of them escaped already: escapes control
 * characters, and no backslash. Fills at most `size` bytes, without a zero at the end, and
 * returns how many.
 */
size_t escape_controls(const char *text, char *ret, size_t size);

/* How many bytes escape_print writes. */
size_t escape_length(const char *text);
