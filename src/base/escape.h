// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdio.h>

/*
 * Prints foreign text, as a file name, so that it stays on one line: backslash, tab,
 * newline and other control characters are escaped as \\, \t, \n and \xHH.
 */

void escape_print(FILE *out, const char *text);

/* How many bytes escape_print writes. */
size_t escape_length(const char *text);
