// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/* Metadata in several files: metadata.jsonl, and files of class directories. */

#include "dataset_place.h"

static void begin(struct place *place)
{
	place_begin(place);
	place_jpeg(place, "a/1.jpg");
	place_jpeg(place, "a/sub/2.jpg");
	place_jpeg(place, "b/1.jpg");
}

static void expect(struct place *place, const char *where, int64_t count)
{
	char *message = NULL;
	int64_t n = place_count(place, where, &message);
	cr_assert_eq(n, count, "%s: %ld %s", where, (long)n, message ? message : "");
	free(message);
}

Test(dataset_metadata_files, files_of_class_directories_are_read)
{
	struct place place;
	begin(&place);
	place_text(&place, "metadata.csv", "file_name,x,y\na/1.jpg,1,2\nb/1.jpg,3,4\n");
	place_text(&place, "a/metadata.csv",
		"file_name,X,caption\n./1.jpg,7,red\nsub/2.jpg,8,blue\n");
	place_text(&place, "a/sub/metadata.jsonl",
		"{\"file_name\": \"2.jpg\", \"x\": 9, \"z\": 0.5}\n");
	cr_assert_eq(place_open(&place), 0);
	cr_assert_not(place_logged(&place, "warning"));
	expect(&place, "path = 'a/1.jpg' and x = 7 and y = 2 and caption = 'red'", 1);
	expect(&place, "path = 'a/sub/2.jpg' and x = 9 and caption = 'blue' and z = 0.5",
		1);
	expect(&place, "path = 'b/1.jpg' and x = 3 and y = 4 and caption is null", 1);
	expect(&place, "typeof(x) = 'integer'", 3);
	place_end(&place);
}

Test(dataset_metadata_files, changes_of_each_file_are_picked_up)
{
	struct place place;
	begin(&place);
	place_text(&place, "b/metadata.csv", "file_name,x\n1.jpg,1\n");
	cr_assert_eq(place_open(&place), 0);
	expect(&place, "x = 1", 1);
	place_text(&place, "b/metadata.csv", "file_name,x\n1.jpg,11\n");
	cr_assert_eq(place_open(&place), 0);
	expect(&place, "x = 11", 1);
	place_text(&place, "a/metadata.jsonl", "{\"file_name\":\"1.jpg\",\"x\":12}");
	cr_assert_eq(place_open(&place), 0);
	expect(&place, "x in (11, 12)", 2);
	cr_assert_eq(unlink(place_path(&place, "b/metadata.csv")), 0);
	cr_assert_eq(place_open(&place), 0);
	expect(&place, "x is null", 2);
	place_end(&place);
}

Test(dataset_metadata_files, json_has_the_values_that_it_says)
{
	struct place place;
	begin(&place);
	place_text(&place, "metadata.jsonl",
		"\xef\xbb\xbf{\"file_name\": \"a/1.jpg\", \"uid\": "
		"12345678901234567890123,"
		" \"n\": 7, \"t\": \"7\", \"f\": 0.5, \"b\": true, \"e\": \"\","
		" \"o\": {\"box\": [1, 2.50]}, \"u\": \"\\u00e9\\n\", \"v\": null}\r\n"
		"\r\n"
		"{\"n\": -3, \"f\": 2, \"file_name\": \"b/1.jpg\", \"b\": false,"
		" \"uid\": 12345678901234567890124, \"t\": \"12\", \"last\": 1}");
	cr_assert_eq(place_open(&place), 0);
	cr_assert_not(place_logged(&place, "warning"));
	expect(&place, "uid = '12345678901234567890123' and n = 7 and t = '7'", 1);
	expect(&place, "uid = '12345678901234567890124' and b = 'false'", 1);
	expect(&place, "typeof(n) = 'integer' and typeof(f) = 'real'", 2);
	expect(&place, "typeof(t) = 'text' and b in ('true', 'false')", 2);
	expect(&place, "e = '' and v is null and last is null", 1);
	expect(&place, "o = '{\"box\":[1,2.50]}' and json_extract(o, '$.box[1]') = 2.5",
		1);
	expect(&place, "substr(u, 1, 1) = '\xc3\xa9' and unicode(substr(u, 2)) = 10", 1);
	place_end(&place);
}

Test(dataset_metadata_files, types_are_those_of_all_files)
{
	struct place place;
	begin(&place);
	place_text(&place, "a/metadata.csv", "file_name,x,y,z\n1.jpg,7,1,1.50\n");
	place_text(&place, "b/metadata.jsonl",
		"{\"file_name\": \"1.jpg\", \"x\": \"007\", \"y\": 0.25, \"z\": 2}\n");
	cr_assert_eq(place_open(&place), 0);
	expect(&place, "x = '7' and path = 'a/1.jpg'", 1);
	expect(&place, "x = '007' and path = 'b/1.jpg'", 1);
	expect(&place, "typeof(y) = 'real' and y in (1, 0.25)", 2);
	expect(&place, "typeof(z) = 'text' and z in ('1.50', '2')", 2);
	place_end(&place);
}

Test(dataset_metadata_files, a_file_that_is_wrong_is_left_out_alone)
{
	static const struct {
		const char *text, *message;
	} wrong[] = {
		{"{\"file_name\": \"1.jpg\", \"x\": 1", "a/metadata.jsonl:1: not valid"},
		{"{\"file_name\": \"1.jpg\"}\n[1]\n", "a/metadata.jsonl:2: not valid: "
						      "expected an object of JSON"},
		{"{\"file_name\": \"1.jpg\", \"x\": NaN}",
			"a/metadata.jsonl:1: not valid"},
		{"{\"file_name\": \"1.jpg\"}\n\n{\"x\": 1}\n",
			"a/metadata.jsonl:3: has no file_name; its columns are left out"},
		{"{\"file_name\": \"1.jpg\", \"x\": 1, \"x\": 2}",
			"a/metadata.jsonl:1: found the key \"x\" twice"},
		{"{\"file_name\": \"1.jpg\", \"x\": \"a\\u0000\"}",
			"a/metadata.jsonl:1: found a zero byte"},
	};
	struct place place;
	begin(&place);
	place_text(&place, "b/metadata.csv", "file_name,x\n1.jpg,5\n");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		place_text(&place, "a/metadata.jsonl", wrong[i].text);
		cr_assert_eq(place_open(&place), 0);
		cr_assert(place_logged(&place, wrong[i].message), "%s", wrong[i].message);
		expect(&place, "x is null", 2);
		expect(&place, "x = 5", 1);
	}
	place_text(&place, "a/metadata.jsonl",
		"{\"file_name\": \"1.jpg\", \"two words\": 1, \"Label\": 2, \"x\": 6}\n"
		"{\"file_name\": \"2.jpg\", \"two words\": 1}\n");
	cr_assert_eq(place_open(&place), 0);
	cr_assert(place_logged(&place, "a/metadata.jsonl:1: column 2, \"two words\", is "
				       "not a plain name"));
	cr_assert_not(place_logged(&place, "a/metadata.jsonl:2: column"));
	cr_assert(place_logged(&place, "metadata: 1 lines name files that are no samples "
				       "of the dataset; the first: a/2.jpg"));
	expect(&place, "x in (5, 6)", 2);
	place_end(&place);
}

Test(dataset_metadata_files, lines_of_json_are_bounded)
{
	struct place place;
	char *text;
	size_t size;
	begin(&place);
	FILE *out = open_memstream(&text, &size);
	fputs("{\"file_name\": \"a/1.jpg\"", out);
	for (int i = 0; i < 1100; i++)
		fprintf(out, ", \"k%d\": 1", i);
	fputs("}\n", out);
	fclose(out);
	place_text(&place, "metadata.jsonl", text);
	free(text);
	cr_assert_eq(place_open(&place), 0);
	cr_assert(place_logged(
		&place, "metadata.jsonl:1: found a file of more than 1,024 keys"));

	out = open_memstream(&text, &size);
	fprintf(out, "{\"file_name\": \"a/1.jpg\", \"x\": \"%070000d\"}", 0);
	fclose(out);
	place_text(&place, "metadata.jsonl", text);
	free(text);
	cr_assert_eq(place_open(&place), 0);
	cr_assert(place_logged(
		&place, "metadata.jsonl:1: found a value of more than 65,536 bytes"));
	place_text(&place, "metadata.jsonl", "");
	cr_assert_eq(truncate(place_path(&place, "metadata.jsonl"), 32 << 20), 0);
	cr_assert_eq(place_open(&place), 0);
	cr_assert(place_logged(
		&place, "metadata.jsonl:1: found a line of more than 524,288 bytes"));
	place_end(&place);
}
