// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Prints foreign text, such as a file name, on one line. Backslash, tab and newline become \\, \t
 * and \n. Each byte of other control or format characters (Unicode's categories Cc, Cf, Zl and Zp),
 * and each byte that is not UTF-8, becomes \xhh. */

void escape_print(FILE *out, const char *text);

/* Escapes control characters in a message. Leaves backslashes as they are, because a name in the
 * message may be escaped already. Fills at most `size` bytes of `ret` without a terminating zero,
 * and returns how many bytes it has filled. *ret_rest: the part of the message that did not fit. */
size_t escape_controls(const char *text, char *ret, size_t size, const char **ret_rest);

/* Returns the number of bytes that escape_print would write. */
size_t escape_length(const char *text);

/* Returns the number of bytes of the first character, and sets *ret to its code point. Returns 0 if
 * the character is not valid UTF-8. */
unsigned utf8_read(const char *text, uint32_t *ret);
/* Tells whether the character belongs to one of the categories Cc, Cf, Zl and Zp. */
bool unicode_controls(uint32_t character);

/* Returns the value of a hexadecimal digit. */
static inline int hexadecimal(char digit)
{
	return digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10;
}
