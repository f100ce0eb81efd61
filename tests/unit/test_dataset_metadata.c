// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset_place.h"

static void two_files(struct place *place, const char *metadata)
{
	place_begin(place);
	place_jpeg(place, "a/1.jpg");
	place_jpeg(place, "a/2.jpg");
	place_text(place, "metadata.csv", metadata);
	cr_assert_eq(place_open(place), 0);
}

static void expect(struct place *place, const char *where, int64_t count)
{
	char *message = NULL;
	int64_t n = place_count(place, where, &message);
	cr_assert_eq(n, count, "%s: %ld %s", where, (long)n, message ? message : "");
	free(message);
}

Test(dataset_metadata, columns_get_the_type_of_their_content)
{
	struct place place;
	two_files(&place, "whole,file_name,real,text,blank\r\n"
			  "12,a/1.jpg,1,blue,\r\n"
			  "-7,./a/2.jpg,1.5e1,\"with \"\"comma\"\", and\nline\",\r\n");
	expect(&place, "typeof(whole) = 'integer' and whole in (12, -7)", 2);
	expect(&place, "typeof(real) = 'real' and real in (1.0, 15.0)", 2);
	expect(&place, "typeof(text) = 'text'", 2);
	expect(&place, "text = 'with \"comma\", and\nline'", 1);
	expect(&place, "blank is null", 2);
	expect(&place, "whole > 0 and label = 0 and path = 'a/1.jpg'", 1);
	cr_assert_not(place_logged(&place, "warning"));
	place_end(&place);
}

Test(dataset_metadata, missing_rows_and_values_are_null)
{
	struct place place;
	two_files(&place, "\xef\xbb\xbf"
			  "file_name,x,y\na/2.jpg,5\n");
	expect(&place, "x is null", 1);
	expect(&place, "x = 5 and y is null", 1);
	cr_assert(place_logged(&place, "1 lines have another number of fields than the "
				       "first line's 3; the first: line 2"));
	place_end(&place);
}

Test(dataset_metadata, columns_that_can_not_be_used_are_left_out)
{
	struct place place;
	two_files(&place, "file_name,two words,Label,good,1st,,good,gone,group\n"
			  "a/1.jpg,1,2,3,4,5,6,7,8\n");
	static const char *const messages[] = {
		"column 2, \"two words\", is not a plain name",
		"metadata.csv:1: column 3, \"Label\", is a name that every dataset has",
		"column 5, \"1st\", is not a plain name", "column 6, \"\", has no name",
		"column 7, \"good\", is there twice", "column 8, \"gone\", is a name"};
	for (int i = 0; i < 6; i++)
		cr_assert(place_logged(&place, messages[i]), "%s", messages[i]);
	expect(&place, "good = 3 and label = 0", 1);
	expect(&place, "\"group\" = 8", 1);
	place_end(&place);
}

Test(dataset_metadata, files_that_are_not_there_are_counted)
{
	struct place place;
	two_files(&place, "file_name,x\na/1.jpg,1\na/9.jpg,2\na/8.jpg,3\na/1.jpg,4\n");
	cr_assert(place_logged(&place, "2 lines name files that are not samples of the "
				       "dataset; the first: a/9.jpg"));
	cr_assert(place_logged(&place, "1 lines name a file that an earlier line named"));
	expect(&place, "x = 4", 1);
	cr_assert_eq(place_open(&place), 0);
	cr_assert_not(place_logged(&place, "warning"), "warned once");
	place_end(&place);
}

Test(dataset_metadata, a_file_that_is_not_csv_gives_no_columns)
{
	struct place place;
	two_files(&place, "file_name,x\na/1.jpg,1\na/2.jpg,\"2\n");
	cr_assert(place_logged(&place, "metadata.csv:3: not valid CSV"));
	char *message;
	cr_assert_eq(place_count(&place, "x = 1", &message), -1);
	free(message);

	place_text(&place, "metadata.csv", "path,x\na/1.jpg,1\n");
	cr_assert_eq(place_open(&place), 0);
	cr_assert(place_logged(&place, "metadata.csv:1: the first line has no column "
				       "file_name"));
	place_text(&place, "metadata.csv", "");
	cr_assert_eq(place_open(&place), 0);
	unlink(place_path(&place, "metadata.csv"));
	place_link(&place, "metadata.csv", "/dev/zero");
	cr_assert_eq(place_open(&place), 0);
	cr_assert(place_logged(&place, "it is left out"));
	place_end(&place);
}

Test(dataset_metadata, a_change_is_picked_up)
{
	struct place place;
	two_files(&place, "file_name,x\na/1.jpg,1\n");
	expect(&place, "x = 1", 1);
	place_text(&place, "metadata.csv", "file_name,y\na/1.jpg,word\na/2.jpg,word\n");
	cr_assert_eq(place_open(&place), 0);
	expect(&place, "y = 'word'", 2);

	place_jpeg(&place, "a/3.jpg");
	cr_assert_eq(place_open(&place), 0);
	expect(&place, "y = 'word'", 2);
	expect(&place, "y is null", 1);
	unlink(place_path(&place, "metadata.csv"));
	cr_assert_eq(place_open(&place), 0);
	char *message;
	cr_assert_eq(place_count(&place, "y = 'word'", &message), -1);
	free(message);
	place_end(&place);
}
