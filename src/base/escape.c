// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/escape.h"

#include <stdbool.h>
#include <string.h>

/* The text for one byte. */
struct escaped {
	char text[5];
	size_t length;
};

static struct escaped escape(unsigned char byte)
{
	static const char digits[] = "0123456789ABCDEF";
	switch (byte) {
	case '\\':
		return (struct escaped){"\\\\", 2};
	case '\n':
		return (struct escaped){"\\n", 2};
	case '\t':
		return (struct escaped){"\\t", 2};
	default:
		if (byte >= 0x20 && byte != 0x7f)
			return (struct escaped){{(char)byte}, 1};
		return (struct escaped){
			{'\\', 'x', digits[byte >> 4], digits[byte & 15]}, 4};
	}
}

/* Nearly all bytes. */
static bool is_plain(unsigned char byte)
{
	return byte >= 0x20 && byte != 0x7f && byte != '\\';
}

void escape_print(FILE *out, const char *text)
{
	for (; *text; text++)
		fputs(escape((unsigned char)*text).text, out);
}

size_t escape_controls(const char *text, char *ret, size_t size)
{
	size_t n = 0;
	for (; *text; text++) {
		struct escaped one = escape((unsigned char)*text);
		if (*text == '\\')
			one.length = 1;
		if (one.length > size - n)
			break;
		memcpy(ret + n, one.text, one.length);
		n += one.length;
	}
	return n;
}

size_t escape_length(const char *text)
{
	size_t length = 0;
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;
		length += is_plain(byte) ? 1 : escape(byte).length;
	}
	return length;
}
