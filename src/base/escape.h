// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Prints foreign text, as a file name, so that it stays on one line and looks like what it
 * is. Backslash, tab and newline become \\, \t and \n. Each byte of other characters that
 * control or format (Unicode's categories Cc, Cf, Zl and Zp), and each byte that is not
 * UTF-8, becomes \xhh.
 */

void escape_print(FILE *out, const char *text);

/*
 * For a text that has names in it, some of them escaped already: escapes no backslash. Fills
 * at most `size` bytes, without a zero at the end, and returns how many; *ret_rest: what
 * did not fit.
 */
size_t escape_controls(const char *text, char *ret, size_t size, const char **ret_rest);

/* How many bytes escape_print writes. */
size_t escape_length(const char *text);

/* How many bytes the character of UTF-8 at the beginning has; 0: there is none. */
unsigned utf8_read(const char *text, uint32_t *ret);
/* Whether it is of the categories above. */
bool unicode_controls(uint32_t character);
