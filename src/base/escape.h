// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdio.h>

/*
 * Text of other people's making, as a file name, in a line of text: a backslash, tab,
 * newline and other control characters are escaped as in C.
 */

void escape_print(FILE *out, const char *text);

/* How many bytes that is. */
size_t escape_length(const char *text);
