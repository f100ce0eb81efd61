// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Prints foreign text, for instance a file name, on one line, and shows characters that are not
 * visible. Backslash, tab and newline become \\, \t and \n. Each byte of other characters that
 * control or format (Unicode's categories Cc, Cf, Zl and Zp), and each byte that is not UTF-8,
 * becomes \xhh.
 */

void escape_print(FILE *out, const char *text);

/*
 * Escapes control characters in a text that contains names. Some names may be escaped already, so
 * backslashes are kept. Fills at most `size` bytes without a terminating zero, and returns their
 * number. *ret_rest points to the text that did not fit.
 */
size_t escape_controls(const char *text, char *ret, size_t size, const char **ret_rest);

/* Returns the number of bytes that escape_print would write. */
size_t escape_length(const char *text);

/* Decodes one UTF-8 character. Returns the number of its bytes; 0: the text does not begin with a
 * valid character. */
unsigned utf8_read(const char *text, uint32_t *ret);
/* Tells whether the character belongs to one of the categories Cc, Cf, Zl and Zp. */
bool unicode_controls(uint32_t character);
