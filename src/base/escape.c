// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/escape.h"

#include <string.h>

/* The ranges of the categories Cc, Cf, Zl and Zp in Unicode 15.1. */
static const struct {
	uint32_t first, last;
} controls[] = {{0x0000, 0x001f}, {0x007f, 0x009f}, {0x00ad, 0x00ad}, {0x0600, 0x0605},
	{0x061c, 0x061c}, {0x06dd, 0x06dd}, {0x070f, 0x070f}, {0x0890, 0x0891},
	{0x08e2, 0x08e2}, {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},
	{0x2060, 0x2064}, {0x2066, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb},
	{0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
	{0x1d173, 0x1d17a}, {0xe0001, 0xe0001}, {0xe0020, 0xe007f}};

bool unicode_controls(uint32_t character)
{
	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++)
		if (character <= controls[i].last)
			return character >= controls[i].first;
	return false;
}

unsigned utf8_read(const char *bytes, uint32_t *ret)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *text = (const unsigned char *)bytes;
	unsigned n = 0;
	*ret = text[0];
	if (text[0] < 0x80)
		return 1;
	if (text[0] >= 0xc2 && text[0] < 0xe0)
		n = 2;
	else if ((text[0] & 0xf0) == 0xe0)
		n = 3;
	else if (text[0] >= 0xf0 && text[0] < 0xf5)
		n = 4;
	if (n == 0)
		return 0;
	uint32_t character = text[0] & (0x7fu >> n);
	for (unsigned i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		character = character << 6 | (text[i] & 0x3f);
	}
	bool surrogate = character >= 0xd800 && character < 0xe000;
	*ret = character;
	return character < least[n] || surrogate || character > 0x10ffff ? 0 : n;
}

/* The printed form of one character, or of one byte that is not UTF-8. */
struct escaped {
	char text[4 * 4 + 1];
	size_t length;
	unsigned taken;
};

static struct escaped escape(const char *text)
{
	struct escaped ret = {.length = 2};
	uint32_t character;
	unsigned n = utf8_read(text, &character);
	ret.taken = n ? n : 1;
	if (*text == '\\' || *text == '\n' || *text == '\t') {
		ret.text[0] = '\\';
		ret.text[1] = *text == '\n' ? 'n' : *text == '\t' ? 't' : '\\';
	} else if (n > 0 && !unicode_controls(character)) {
		memcpy(ret.text, text, n);
		ret.length = n;
	} else {
		for (unsigned i = 0; i < ret.taken; i++)
			sprintf(ret.text + 4 * i, "\\x%02x", (unsigned char)text[i]);
		ret.length = (size_t)4 * ret.taken;
	}
	return ret;
}

/* Tells whether the byte is printed unchanged. For such bytes the slow search in `controls` is not
 * needed. */
static bool is_plain(unsigned char byte)
{
	return byte >= 0x20 && byte < 0x7f && byte != '\\';
}

void escape_print(FILE *out, const char *text)
{
	while (*text) {
		struct escaped one = escape(text);
		fputs(one.text, out);
		text += one.taken;
	}
}

size_t escape_controls(const char *text, char *ret, size_t size, const char **ret_rest)
{
	size_t n = 0;
	for (struct escaped one; *text; text += one.taken) {
		one = escape(text);
		if (*text == '\\')
			one.length = 1;
		if (one.length > size - n)
			break;
		memcpy(ret + n, one.text, one.length);
		n += one.length;
	}
	*ret_rest = text;
	return n;
}

size_t escape_length(const char *text)
{
	size_t length = 0;
	while (*text) {
		if (is_plain((unsigned char)*text)) {
			length++;
			text++;
			continue;
		}
		struct escaped one = escape(text);
		length += one.length;
		text += one.taken;
	}
	return length;
}
