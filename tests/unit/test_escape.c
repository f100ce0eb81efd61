// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/escape.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *escaped(const char *text)
{
	char *ret;
	size_t bytes;
	FILE *out = open_memstream(&ret, &bytes);
	escape_print(out, text);
	fclose(out);
	return ret;
}

Test(escape, every_byte_is_printed_on_one_line_and_as_long_as_said)
{
	for (int byte = 1; byte < 256; byte++) {
		char text[2] = {(char)byte, '\0'};
		char *line = escaped(text);
		cr_assert_eq(strlen(line), escape_length(text), "byte %d", byte);
		cr_assert_null(strpbrk(line, "\n\t"));
		cr_assert(byte >= 0x20 || line[0] == '\\');
		free(line);
	}
}

static void expect(const char *text, const char *expected)
{
	char *line = escaped(text);
	cr_assert_str_eq(line, expected);
	free(line);
}

Test(escape, names_as_people_know_them_stay_as_they_are)
{
	expect("", "");
	expect("n02085620/rose 1.jpg", "n02085620/rose 1.jpg");
	expect("T\303\274r/a b.jpg", "T\303\274r/a b.jpg");
	expect("\xc3\xa4\xe6\x97\xa5", "\xc3\xa4\xe6\x97\xa5");
}

Test(escape, control_characters_and_backslashes_do_not_end_a_line)
{
	expect("a\\b\nc\td\x01", "a\\\\b\\nc\\td\\x01");
	expect("\x01\x1b[31m\x7f", "\\x01\\x1b[31m\\x7f");
}

Test(escape, characters_that_control_or_format_are_escaped)
{
	expect("a\xc2\x9b"
	       "1m",
		"a\\xc2\\x9b1m");
	expect("\xe2\x80\xae"
	       "gpj.x",
		"\\xe2\\x80\\xaegpj.x");
	expect("\xe2\x80\xa8\xef\xbb\xbf\xc2\xad",
		"\\xe2\\x80\\xa8\\xef\\xbb\\xbf\\xc2\\xad");
	expect("\xf3\xa0\x80\xa1!", "\\xf3\\xa0\\x80\\xa1!");
}

Test(escape, bytes_that_are_no_text_are_escaped)
{
	expect("\xff\xc3(\xc0\xaf\xed\xa0\x80", "\\xff\\xc3(\\xc0\\xaf\\xed\\xa0\\x80");
	expect("\xe2\x80", "\\xe2\\x80");
}

Test(escape, a_message_is_cut_between_characters)
{
	char text[8];
	const char *rest;
	size_t n = escape_controls("a\\b\xc2\x9b"
				   "c",
		text, sizeof(text), &rest);
	cr_assert_eq(n, 3);
	cr_assert_eq(memcmp(text, "a\\b", 3), 0);
	cr_assert_str_eq(rest, "\xc2\x9b"
			       "c");
}
