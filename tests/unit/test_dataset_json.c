// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset_place.h"

#include <criterion/criterion.h>
#include <string.h>

static struct place place;

static void expect_json(const char *relative, const char *expected)
{
	auto_free char *json = NULL;
	cr_assert_eq(dataset_json(place.dataset, place_id(&place, relative), &json), 0);
	cr_assert_str_eq(json, expected);
}

Test(dataset_json, a_sample_has_its_label_class_and_path)
{
	place_begin(&place);
	place_jpeg(&place, "a/1.jpg");
	place_jpeg(&place, "b/x/2.jpg");
	cr_assert_eq(place_open(&place), 0);
	expect_json(
		"b/x/2.jpg", "{\"label\": 1, \"class\": \"b\", \"path\": \"b/x/2.jpg\"}");
	place_end(&place);
}

Test(dataset_json, columns_of_metadata_have_their_types)
{
	place_begin(&place);
	place_jpeg(&place, "a/1.jpg");
	place_jpeg(&place, "a/2.jpg");
	place_text(&place, "metadata.csv",
		"file_name,score,n,caption\na/1.jpg,0.1,-7,\"a "
		"\"\"b\"\"\\\t\xc3\xa9\"\n");
	cr_assert_eq(place_open(&place), 0);
	expect_json("a/1.jpg", "{\"label\": 0, \"class\": \"a\", \"path\": \"a/1.jpg\", "
			       "\"score\": 0.1, \"n\": -7, "
			       "\"caption\": \"a \\\"b\\\"\\\\\\u0009\xc3\xa9\"}");
	expect_json("a/2.jpg", "{\"label\": 0, \"class\": \"a\", \"path\": \"a/2.jpg\", "
			       "\"score\": null, \"n\": null, \"caption\": null}");
	place_end(&place);
}

/* A lone continuation byte, an overlong slash, a surrogate, a sequence that is cut off, and é. */
Test(dataset_json, bytes_that_are_not_utf8_are_escaped_as_python_does)
{
	static const char name[] = "a/\x80-\xc0\xaf-\xed\xa0\x80-\xc3\xa9-\xe2\x82.jpg";
	place_begin(&place);
	place_jpeg(&place, name);
	cr_assert_eq(place_open(&place), 0);
	expect_json(name, "{\"label\": 0, \"class\": \"a\", \"path\": "
			  "\"a/\\udc80-\\udcc0\\udcaf-\\udced\\udca0\\udc80-\xc3\xa9-"
			  "\\udce2\\udc82.jpg\"}");
	place_end(&place);
}

Test(dataset_json, characters_that_control_or_format_have_escapes_of_json)
{
	static const char name[] = "a/\x01\x7f\xc2\x9b\xe2\x80\xae\xf3\xa0\x80\xa1.jpg";
	place_begin(&place);
	place_jpeg(&place, name);
	cr_assert_eq(place_open(&place), 0);
	expect_json(name, "{\"label\": 0, \"class\": \"a\", \"path\": "
			  "\"a/\\u0001\\u007f\\u009b\\u202e\\udb40\\udc21.jpg\"}");
	place_end(&place);
}

Test(dataset_json, the_longest_is_known)
{
	uint32_t longest;
	place_begin(&place);
	place_jpeg(&place, "a/1.jpg");
	place_jpeg(&place, "a/a longer name.jpg");
	place_jpeg(&place, "b/2.jpg");
	cr_assert_eq(place_open(&place), 0);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(dataset_json_longest(place.dataset, &longest), 0);
		cr_assert_eq(longest, strlen("{\"label\": 0, \"class\": \"a\", \"path\": "
					     "\"a/a longer name.jpg\"}"));
	}
	place_end(&place);
}

Test(dataset_json, an_unknown_sample_has_none)
{
	char *json;
	place_begin(&place);
	place_jpeg(&place, "a/1.jpg");
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_json(place.dataset, 1, &json), -ENOENT);
	place_end(&place);
}
