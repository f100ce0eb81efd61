// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset_place.h"

#include <criterion/criterion.h>
#include <string.h>

/* Two datasets as one: ids, paths, rows, classes and labels. */

static struct place one, other;
static roaring_bitmap_t *all[2];

static void begin(void)
{
	static char name[] = "more";
	place_begin(&one);
	place_begin(&other);
	other.config.name = name;
}

static int mix(const char *table, struct dataset **ret, char **ret_message)
{
	cr_assert_eq(place_open(&one), 0);
	cr_assert_eq(place_open(&other), 0);
	struct dataset *const datasets[] = {one.dataset, other.dataset};
	struct dataset_mixed from[2];
	for (int i = 0; i < 2; i++) {
		char *message = NULL;
		cr_assert_eq(dataset_select(datasets[i], NULL, &all[i], &message), 0);
		from[i] = (struct dataset_mixed){datasets[i], all[i]};
	}
	return dataset_mix("flowers,more", from, 2, table, ret, ret_message);
}

static void end(struct dataset **mixed)
{
	for (int i = 0; i < 2; i++)
		roaring_bitmap_free(all[i]);
	if (*mixed)
		dataset_close(mixed);
	place_end(&one);
	place_end(&other);
}

static void expect_classes(const struct dataset *mixed, const char *expected)
{
	char text[200] = "";
	uint32_t n = dataset_classes(mixed);
	for (uint32_t i = 0; i < n; i++) {
		const char *name = dataset_class_name(mixed, i);
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ", name);
		cr_assert_eq(dataset_find_class(mixed, name), i);
	}
	cr_assert_str_eq(text, expected);
	cr_assert_eq(dataset_find_class(mixed, "none"), n);
}

static void expect_sample(struct dataset *mixed, sample_id id, const char *path,
	const struct place *of, const char *json)
{
	struct dataset_sample sample;
	auto_free char *row = NULL;
	cr_assert_eq(dataset_get(mixed, id, &sample), 0);
	cr_assert_str_eq(sample.relative, path);
	cr_assert_str_eq(sample.path, place_path(of, strchr(path, '/') + 1));
	cr_assert_eq(sample.label, dataset_label(mixed, id));
	cr_assert_eq(dataset_path_length(mixed, id), strlen(path));
	dataset_sample_free(&sample);
	cr_assert_eq(dataset_json(mixed, id, &row), 0);
	cr_assert_str_eq(row, json);
}

Test(dataset_mix, classes_of_one_name_are_one_class)
{
	struct dataset *mixed = NULL;
	char *message = NULL;
	uint32_t longest;
	begin();
	place_jpeg(&one, "cat/1.jpg");
	place_jpeg(&one, "dog/1.jpg");
	place_jpeg(&other, "bee/1.jpg");
	place_jpeg(&other, "dog/2.jpg");
	place_text(&other, "metadata.csv", "file_name,n\ndog/2.jpg,7\n");
	cr_assert_eq(mix(NULL, &mixed, &message), 0);
	cr_assert_eq(dataset_ids(mixed), 4);
	cr_assert_eq(dataset_first(mixed, 1), 2);
	expect_classes(mixed, "bee cat dog ");
	expect_sample(mixed, 1, "flowers/dog/1.jpg", &one,
		"{\"label\": 2, \"class\": \"dog\", \"path\": \"flowers/dog/1.jpg\"}");
	expect_sample(mixed, 3, "more/dog/2.jpg", &other,
		"{\"label\": 2, \"class\": \"dog\", \"path\": \"more/dog/2.jpg\", \"n\": "
		"7}");
	cr_assert_eq(dataset_label(mixed, 0), 1);
	cr_assert_eq(dataset_label(mixed, 2), 0);
	cr_assert_eq(dataset_json_longest(mixed, &longest), 0);
	cr_assert_geq(longest, strlen("{\"label\": 2, \"class\": \"dog\", \"path\": "
				      "\"flowers/dog/1.jpg\"}"));
	struct dataset_sample sample;
	cr_assert_eq(dataset_get(mixed, 4, &sample), -ENOENT);
	end(&mixed);
}

/* Makes a tar of n samples with the labels 0, 1, 2 ... */
static void number(struct place *place, int n, char path[static 128])
{
	char name[32], text[32], command[400];
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%02d.jpg", i);
		place_jpeg(place, name);
		snprintf(name, sizeof(name), "%02d.cls", i);
		snprintf(text, sizeof(text), "%d", i);
		place_text(place, name, text);
	}
	snprintf(path, 128, "%s/shard.tar", place->directory);
	snprintf(command, sizeof(command), "cd %s && tar -cf %s --sort=name *",
		place->root, path);
	cr_assert_eq(system(command), 0);
	place->config.path = path;
}

/* The classes 1 and 01 have the same number, but different names. */
Test(dataset_mix, numbers_stay_labels)
{
	struct dataset *mixed = NULL;
	char *message = NULL, paths[2][128];
	begin();
	number(&one, 2, paths[0]);
	number(&other, 11, paths[1]);
	cr_assert_eq(mix(NULL, &mixed, &message), 0);
	expect_classes(mixed, "00 01 02 03 04 05 06 07 08 09 10 ");
	cr_assert_eq(dataset_ids(mixed), 13);
	for (sample_id id = 0; id < 13; id++) {
		struct dataset_sample sample;
		const struct place *of = id < 2 ? &one : &other;
		cr_assert_eq(dataset_get(mixed, id, &sample), 0);
		cr_assert_eq(dataset_label(mixed, id),
			dataset_label(of->dataset, id < 2 ? id : id - 2), "%s",
			sample.relative);
		dataset_sample_free(&sample);
	}
	end(&mixed);
}

Test(dataset_mix, labels_of_a_table)
{
	struct dataset *mixed = NULL;
	char *message = NULL;
	begin();
	place_jpeg(&one, "cat/1.jpg");
	place_jpeg(&other, "my cat/1.jpg");
	place_jpeg(&other, "dog/1.jpg");
	place_text(&other, "table",
		"# labels\n\nmore/my cat 3\r\nflowers/cat\t3\nmore/dog 0\nx/y 9\n");
	char *table = strdup(place_path(&other, "table"));
	cr_assert_eq(mix(table, &mixed, &message), 0, "%s", message);
	expect_classes(mixed, "dog 1 2 my cat 4 5 6 7 8 y ");
	cr_assert_eq(dataset_label(mixed, 0), 3);
	cr_assert_eq(dataset_label(mixed, 1), 0);
	cr_assert_eq(dataset_label(mixed, 2), 3);
	free(table);
	end(&mixed);
}

static void expect_wrong(const char *text, const char *expected)
{
	struct dataset *mixed = NULL;
	char *message = NULL;
	begin();
	place_jpeg(&one, "cat/1.jpg");
	place_jpeg(&other, "cat/1.jpg");
	place_text(&other, "table", text);
	char *table = strdup(place_path(&other, "table"));
	cr_assert_eq(mix(table, &mixed, &message), -EINVAL);
	cr_assert_not_null(message);
	cr_assert_not_null(strstr(message, expected), "%s", message);
	free(message);
	free(table);
	end(&mixed);
}

Test(dataset_mix, tables_that_are_wrong)
{
	static const char allowed[] = ", allowed: DATASET/CLASS LABEL";
	static const char *const wrong[] = {"more/cat", "more/cat x", "more/cat -1",
		"more/cat 1000000", "more/cat 1.5", "cat 1", "/cat 1", "more/ 1", "1",
		"more/cat 99999999999"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char text[100], expected[100];
		snprintf(text, sizeof(text), "flowers/cat 0\n%s\n", wrong[i]);
		snprintf(expected, sizeof(expected), "found \"%s\" in line 2%s", wrong[i],
			allowed);
		expect_wrong(text, expected);
	}
	expect_wrong("more/cat 1\nflowers/cat 0\nmore/cat 1\n",
		"found \"more/cat\" in line 3, allowed: DATASET/CLASS LABEL, each class "
		"once");
	expect_wrong("flowers/cat 0\n", "has no label for more/cat, allowed: a line for");
	expect_wrong("", "has no label for flowers/cat, allowed: a line for");
}
