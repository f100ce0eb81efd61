// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/text.h"

#include <criterion/criterion.h>

static void check_escaped(const char *text, const char *expected)
{
	char *printed = NULL;
	size_t bytes;
	FILE *out = open_memstream(&printed, &bytes);
	text_escaped(out, text);
	fclose(out);
	cr_assert_str_eq(printed, expected);
	free(printed);
}

Test(text, names_are_escaped_so_that_a_line_stays_a_line)
{
	check_escaped("n02085620/rose 1.jpg", "n02085620/rose 1.jpg");
	check_escaped("a\nb\tc\\d", "a\\nb\\tc\\\\d");
	check_escaped("\x01\x1b[31m\x7f", "\\x01\\x1B[31m\\x7F");
	check_escaped("\xc3\xa4\xe6\x97\xa5", "\xc3\xa4\xe6\x97\xa5");
	check_escaped("", "");
}
