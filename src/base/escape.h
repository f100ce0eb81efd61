// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Prints foreign text, for instance a file name, so that it stays on one line and shows what it
 * contains. Backslash, tab and newline become \\, \t and \n. Each byte of other characters that
 * control or format (Unicode's categories Cc, Cf, Zl and Zp), and each byte that is not
 * UTF-8, becomes \xhh.
 */

void escape_print(FILE *out, const char *text);

/*
 * Escapes a text that contains names, some of them escaped already, and therefore no backslash.
 * Fills at most `size` bytes, without a zero at the end, and returns how many. *ret_rest points
 * to the text that did not fit.
 */
size_t escape_controls(const char *text, char *ret, size_t size, const char **ret_rest);

/* Returns how many bytes escape_print writes. */
size_t escape_length(const char *text);

/* Reads one character of UTF-8. Returns its bytes; 0: the text begins with none. */
unsigned utf8_read(const char *text, uint32_t *ret);
/* Tells whether the character is in the categories above. */
bool unicode_controls(uint32_t character);
