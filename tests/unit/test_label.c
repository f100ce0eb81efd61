// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/label.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(label, files_are_of_one_size_and_parse_as_numbers)
{
	static const uint32_t n_classes[] = {0, 1, 2, 10, 11, 100, 101, 1000, 4294967295};
	static const uint32_t bytes[] = {2, 2, 2, 2, 3, 3, 4, 4, 11};
	for (size_t i = 0; i < sizeof(n_classes) / sizeof(n_classes[0]); i++) {
		cr_assert_eq(label_bytes(n_classes[i]), bytes[i]);
		uint32_t last = n_classes[i] ? n_classes[i] - 1 : 0;
		char text[LABEL_BYTES + 1] = "", *end;
		label_print(last, bytes[i], text);
		cr_assert_eq(strtoul(text, &end, 10), last);
		cr_assert_str_eq(end, "\n");
	}
	char text[LABEL_BYTES + 1] = "";
	label_print(7, label_bytes(1000), text);
	cr_assert_str_eq(text, "7\n\n\n");
}
