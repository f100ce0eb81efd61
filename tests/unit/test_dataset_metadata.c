// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset_place.h"

#include <sys/resource.h>

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
			  "-7,./a/2.jpg,1.5,\"with \"\"comma\"\", and\nline\",\r\n");
	expect(&place, "typeof(whole) = 'integer' and whole in (12, -7)", 2);
	expect(&place, "typeof(real) = 'real' and real in (1.0, 1.5)", 2);
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
	cr_assert(place_logged(&place, "1 lines do not have the 3 fields of the first "
				       "line; the first of them: line 2"));
	place_end(&place);
}

Test(dataset_metadata, columns_that_can_not_be_used_are_left_out)
{
	struct place place;
	two_files(&place, "file_name,two words,Label,good,1st,,good,gone,group\n"
			  "a/1.jpg,1,2,3,4,5,6,7,8\n");
	static const char *const messages[] = {
		"column 2, \"two words\", is not a plain name",
		"metadata.csv:1: column 3, \"Label\", is the name of a column that",
		"column 5, \"1st\", is not a plain name", "column 6, \"\", has no name",
		"column 7, \"good\", occurs twice", "column 8, \"gone\", is the name of"};
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
	cr_assert(place_logged(&place, "2 lines name files that are no samples of the "
				       "dataset; the first: a/9.jpg"));
	cr_assert(place_logged(&place, "1 lines name a file again"));
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

/* Writes a file whose third line is `line`, followed by n bytes `fill`. */
static void long_file(struct place *place, const char *line, size_t n, char fill)
{
	FILE *file = fopen(place_path(place, "metadata.csv"), "w");
	cr_assert_not_null(file);
	fprintf(file, "file_name,x,y\na/1.jpg,1,2\n%s", line);
	for (size_t i = 0; i < n; i++)
		fputc(fill, file);
	fprintf(file, "\na/9.jpg,3,4\n");
	fclose(file);
}

static void expect_refused(struct place *place, const char *message)
{
	char *refusal = NULL;
	cr_assert_eq(place_open(place), 0, "%s", message);
	cr_assert(place_logged(place, message), "%s", message);
	cr_assert_eq(place_count(place, "x = 1", &refusal), -1, "%s", message);
	cr_assert_eq(dataset_samples(place->dataset), 2, "%s", message);
	free(refusal);
}

/* Checks that `line` with n more bytes `fill` is refused with the message. */
static void expect_long_refused(
	struct place *place, const char *line, size_t n, char fill, const char *message)
{
	long_file(place, line, n, fill);
	expect_refused(place, message);
}

/* Checks that `line` with n more bytes `fill` is accepted, and that `where` finds one sample. */
static void expect_long_taken(
	struct place *place, const char *line, size_t n, char fill, const char *where)
{
	long_file(place, line, n, fill);
	cr_assert_eq(place_open(place), 0);
	expect(place, where, 1);
}

Test(dataset_metadata, what_is_too_long_is_refused)
{
	struct place place;
	two_files(&place, "file_name,x\na/1.jpg,1\n");
	expect_long_taken(&place, "a/2.jpg,", 65536, 'x', "length(x) = 65536");
	expect_long_refused(&place, "a/2.jpg,", 65537, 'x',
		"metadata.csv:3: found a field of more than 65,536 bytes, "
		"allowed: at most 65,536; its columns are left out");
	expect_long_refused(&place, "a/2.jpg,", 300000, 'x',
		"metadata.csv:3: found a field of more than 65,536 bytes, "
		"allowed: at most 65,536");
	expect_long_refused(&place, "a/2.jpg,\"1\n2\n", 300000, '3',
		"metadata.csv:5: found a field of more than");
	expect_long_refused(&place, "a/2.jpg,", 300000, '\0',
		"metadata.csv:3: found a field of more than");
	expect_long_taken(&place, "a/2.jpg", 1021, ',', "x = 1");
	expect_long_refused(&place, "a/2.jpg", 1030, ',',
		"metadata.csv:3: found a line of more than 1,024 fields, "
		"allowed: at most 1,024");
	place_end(&place);
}

Test(dataset_metadata, a_line_of_many_long_fields_is_refused)
{
	struct place place;
	char *text;
	size_t size;
	two_files(&place, "file_name,x\na/1.jpg,1\n");
	FILE *out = open_memstream(&text, &size);
	fputs("file_name,x\na/1.jpg", out);
	for (int i = 0; i < 9; i++)
		fprintf(out, ",%060000d", i);
	fputs("\n", out);
	fclose(out);
	place_text(&place, "metadata.csv", text);
	expect_refused(&place, "metadata.csv:2: found a line of more than 524,288 bytes, "
			       "allowed: at most 524,288");
	free(text);
	place_end(&place);
}

Test(dataset_metadata, columns_that_are_too_many_are_one_message)
{
	struct place place;
	char *text;
	size_t size, n = 0;
	two_files(&place, "file_name,x\na/1.jpg,1\n");
	FILE *out = open_memstream(&text, &size);
	fputs("file_name", out);
	for (int i = 0; i < 300; i++)
		fprintf(out, ",x%d", i);
	for (int i = 0; i < 30; i++)
		fputs(",x1", out);
	fputs("\na/1.jpg,7\n", out);
	fclose(out);
	place_text(&place, "metadata.csv", text);
	free(text);
	cr_assert_eq(place_open(&place), 0);
	expect(&place, "x0 = 7 and x255 is null", 1);
	cr_assert(
		place_logged(&place, "metadata.csv: found 330 columns beside file_name, "
				     "allowed: at most 256; those after \"x255\""));
	FILE *log = fopen(place.log, "r");
	for (int c; (c = fgetc(log)) != EOF;)
		n += c == '\n';
	fclose(log);
	cr_assert_leq(n, 5, "%zu lines", n);
	place_end(&place);
}

Test(dataset_metadata, a_huge_field_takes_no_memory, .timeout = 600)
{
	struct place place;
	struct rusage before, after;
	two_files(&place, "file_name,x\na/1.jpg,1\n");
	cr_assert_eq(getrusage(RUSAGE_SELF, &before), 0);
	place_text(&place, "metadata.csv", "file_name,x\na/1.jpg,\"");
	cr_assert_eq(truncate(place_path(&place, "metadata.csv"), 32 << 20), 0);
	expect_refused(&place, "metadata.csv:2: found a field of more than 65,536 bytes");
	cr_assert_eq(getrusage(RUSAGE_SELF, &after), 0);
	long grown = after.ru_maxrss - before.ru_maxrss;
	cr_assert_lt(grown, 12 << 10, "%ld KiB", grown);
	place_end(&place);
}

/* Checks that each value selects its own row, whatever else the column has. */
static void expect_told_apart(struct place *place, const char *one, const char *other)
{
	char text[200], where[100];
	snprintf(text, sizeof(text), "file_name,x\na/1.jpg,%s\na/2.jpg,%s\n", one, other);
	place_text(place, "metadata.csv", text);
	cr_assert_eq(place_open(place), 0);
	const char *const values[] = {one, other};
	for (int i = 0; i < 2; i++) {
		snprintf(where, sizeof(where), "x = '%s' and path = 'a/%d.jpg'",
			values[i], i + 1);
		expect(place, where, 1);
		snprintf(where, sizeof(where), "x = '%s'", values[i]);
		expect(place, where, 1);
	}
	expect(place, "hash(x) % 100000 = 0", 0);
}

Test(dataset_metadata, identifiers_that_look_like_numbers_stay_apart)
{
	static const char *const pairs[][2] = {
		{"12345678901234567890123", "12345678901234567890124"},
		{"9223372036854775808", "9223372036854775809"}, {"007", "7"},
		{"1.10", "1.1"}, {"1.0", "1"}, {"1e2", "100"}, {"+5", "5"}, {"-0", "0"},
		{"0.12345678901234567890", "0.12345678901234567891"}};
	struct place place;
	two_files(&place, "file_name,x\n");
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		expect_told_apart(&place, pairs[i][0], pairs[i][1]);
	cr_assert(place_logged(&place, "column x is text, since a number would not keep "
				       "\"0.12345678901234567890\""));
	place_end(&place);
}

Test(dataset_metadata, numbers_of_one_style_are_numbers)
{
	static const char *const pairs[][2] = {{"7", "-9223372036854775808"},
		{"0.50", "10.25"}, {"0.5", "10"}, {"1.0", "0.3333333333333333"},
		{"1e-05", "0.25"}, {"1.00e+00", "2.50e-01"}};
	struct place place;
	two_files(&place, "file_name,x\n");
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		expect_told_apart(&place, pairs[i][0], pairs[i][1]);
		expect(&place, "typeof(x) in ('integer', 'real')", 2);
	}
	place_end(&place);
}

Test(dataset_metadata, quotes_are_read_as_python_reads_them)
{
	struct place place;
	two_files(&place, "file_name,x,y\na/1.jpg,15\" screen, blue \n"
			  "a/2.jpg,\"15\"\"\" wide,\"\"\n");
	expect(&place, "x = '15\" screen' and y = ' blue '", 1);
	expect(&place, "x = '15\" wide' and y is null", 1);
	cr_assert_not(place_logged(&place, "warning"));
	place_end(&place);
}
