// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/array.h"
#include "load/file_head.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <string.h>

/* Types of arrays, and heads of files of NumPy that foreign programs write. */

static struct array_type type_of(const char *dtype, const char *shape)
{
	struct array_type type = {0};
	unsigned n = 0;
	while (strcmp(array_dtypes[n], dtype) != 0)
		n++;
	array_set_dtype(&type, n);
	cr_assert(array_parse_shape(&type, shape));
	return type;
}

static int check(const struct array_type *type, const char *dictionary, char *message)
{
	uint8_t head[10 + 256] = "\x93NUMPY\x01\x00";
	size_t n = strlen(dictionary);
	head[8] = (uint8_t)n;
	memcpy(head + 10, dictionary, n);
	return array_check_head(type, head, 10 + n, message, 100);
}

Test(array, shapes)
{
	static const char *const refused[] = {"", "0", "-1", "3,4", "3x4", "a",
		"1 1 1 1 1 1 1", "1000000 1000000", "100000000000000000000",
		"100000 10 10 10 10 10"};
	struct array_type type = type_of("float32", "  16 224\t224 ");
	cr_expect(eq(u32, type.axes, 3));
	cr_expect(eq(u64, array_bytes(&type), 16 * 224 * 224 * 4));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		cr_expect(not(array_parse_shape(&type, refused[i])), "%s", refused[i]);
}

Test(array, pixels)
{
	struct array_type type = type_of("uint8", "4 6 3");
	cr_expect(eq(u32, array_pixels(&type).height, 4));
	cr_expect(eq(u32, array_pixels(&type).width, 6));
	type = type_of("int8", "4 6 3");
	cr_expect(eq(u32, array_pixels(&type).height, 0));
	type = type_of("uint8", "4 6 4");
	cr_expect(eq(u32, array_pixels(&type).height, 0));
}

/* The longest shapes fit, even into records, where NumPy's head is longest. */
Test(array, heads_are_read_back)
{
	static const char *const shapes[] = {
		"5", "4 6", "1 2 3 4 5 6", "10000 100 100 1 1", "1000000 1 1 1 1"};
	uint8_t head[FILE_HEAD_SIZE];
	char message[100];
	for (unsigned i = 0; array_dtypes[i]; i++)
		for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
			struct array_type type = type_of(array_dtypes[i], shapes[k]);
			struct file_head wanted = {
				.kind = HEAD_NPY, .record = true, .array = &type};
			file_head_make(wanted, (struct tensor_shape){0}, head);
			wanted.record = false;
			size_t n = file_head_make(wanted, (struct tensor_shape){0}, head);
			cr_expect(eq(int, array_check_head(&type, head, n, message, 100),
				(int)n));
			for (size_t part = 0; part < n; part++)
				cr_expect(eq(int,
					array_check_head(&type, head, part, message, 100),
					0));
		}
}

Test(array, other_ways_to_write_a_head)
{
	static const char *const allowed[] = {
		"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 6), }\n",
		"{\"shape\":(4,6),\"descr\":\"<f4\",\"fortran_order\":False}",
		" {'shape' : ( 4 , 6, ) ,'fortran_order' :False,'descr' : '<f4'} "};
	struct array_type type = type_of("float32", "4 6");
	char message[100];
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		cr_expect(gt(int, check(&type, allowed[i], message), 0), "%s: %s",
			allowed[i], message);
}

Test(array, what_is_refused)
{
	static const struct {
		const char *dictionary, *message;
	} cases[] = {
		{"{'descr': '<f8', 'fortran_order': False, 'shape': (4, 6), }",
			"an array of <f8 (4, 6), allowed: <f4 (4, 6)"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (6, 4), }",
			"an array of <f4 (6, 4), allowed: <f4 (4, 6)"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (24,), }",
			"an array of <f4 (24,), allowed: <f4 (4, 6)"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (), }",
			"an array of <f4 (), allowed: <f4 (4, 6)"},
		{"{'descr': '<f4', 'fortran_order': True, 'shape': (4, 6), }",
			"an array of <f4 (4, 6) in Fortran order, allowed: C order"},
		{"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4, 6), }",
			"an array of a structured dtype"},
		{"{'descr': '|O', 'fortran_order': False, 'shape': (4, 6), }",
			"an array of |O (4, 6), allowed: <f4 (4, 6)"},
		{"{'fortran_order': False, 'shape': (4, 6), }",
			"an array without a head of NumPy's"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 6), } x",
			"an array without a head of NumPy's"},
		{"{'descr': '<f4', 'fortran_order': 0, 'shape': (4, 6), }",
			"an array without an order of axes"},
		{"{'descr': '<f4', 'evil': 1, 'shape': (4, 6), }",
			"an array with evil in its header"},
		{"{'descr': '<f4", "an array of a structured dtype"},
		{"{'descr", "an array without a head of NumPy's"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': "
		 "(4, 99999999999)}",
			"an array of more than 6 axes"},
		{"", "an array without a head of NumPy's"},
	};
	struct array_type type = type_of("float32", "4 6");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char message[100] = "";
		int found = check(&type, cases[i].dictionary, message);
		cr_expect(eq(int, found, -EBADMSG), "%s", cases[i].dictionary);
		cr_expect(strcmp(message, cases[i].message) == 0, "%s", message);
	}
}

Test(array, no_magic_and_long_heads)
{
	struct array_type type = type_of("float32", "4 6");
	char message[100];
	const uint8_t magic[] = "\x93NUMPX\x01\x00", version[] = "\x93NUMPY\x09\x00",
		      huge[] = "\x93NUMPY\x02\x00\xff\xff\xff\x7f";
	cr_expect(eq(int, array_check_head(&type, magic, 8, message, 100), -EBADMSG));
	cr_expect(strcmp(message, "no NumPy array") == 0);
	cr_expect(eq(int, array_check_head(&type, version, 8, message, 100), -EBADMSG));
	cr_expect(eq(int, array_check_head(&type, huge, 12, message, 100), -EBADMSG));
	cr_expect(eq(int, array_check_head(&type, magic, 0, message, 100), 0));
}
