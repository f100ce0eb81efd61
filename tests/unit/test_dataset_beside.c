// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_internal.h"
#include "dataset_place.h"
#include "effort.h"

#include <strings.h>

static void check(
	struct place *place, const char *sample, const char *ending, const char *expected)
{
	struct dataset_sample found;
	int err = dataset_beside(place->dataset, place_id(place, sample), ending, &found);
	if (!expected) {
		cr_assert_eq(err, -ENOENT, "%s has .%s", sample, ending);
		return;
	}
	cr_assert_eq(err, 0, "%s has no .%s", sample, ending);
	cr_assert_str_eq(found.relative, expected);
	struct stat st;
	cr_assert_eq(stat(found.path, &st), 0);
	cr_assert_eq(found.bytes, (uint64_t)st.st_size);
	cr_assert_null(found.container);
	dataset_sample_free(&found);
}

Test(dataset_beside, files_of_the_same_stem)
{
	struct place place;
	place_begin(&place);
	static const char *const images[] = {"a/1.jpg", "a/2.jpg", "a/2.png",
		"a/3.seg.jpg", "a/3.jpg", "a/4.JPG", "a/2021.03.04 x.jpg",
		"a/2021.03.05.jpg", "b/1.jpg", "a/5.jpg"};
	static const char *const others[] = {"a/1.txt", "a/1.json", "a/2.txt", "a/3.txt",
		"a/3.seg.json", "a/4.TXT", "a/4.Json", "a/2021.03.04 x.txt", "a/1.cls",
		"a/5.TXT", "a/5.txt", "a/.1.txt", "a/1.t xt", "a/1", "a/1txt", "1.txt",
		"a/metadata.csv"};
	for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++)
		place_jpeg(&place, images[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		place_text(&place, others[i], others[i]);
	for (int again = 0; again < 2; again++) {
		cr_assert_eq(place_open(&place), 0);
		check(&place, "a/1.jpg", "txt", "a/1.txt");
		check(&place, "a/1.jpg", "json", "a/1.json");
		check(&place, "a/1.jpg", "cls", NULL);
		check(&place, "a/1.jpg", "t xt", NULL);
		check(&place, "a/2.jpg", "txt", "a/2.txt");
		check(&place, "a/2.png", "txt", "a/2.txt");
		check(&place, "a/3.jpg", "txt", "a/3.txt");
		check(&place, "a/3.seg.jpg", "txt", "a/3.txt");
		check(&place, "a/3.seg.jpg", "json", "a/3.seg.json");
		check(&place, "a/3.jpg", "json", NULL);
		check(&place, "a/4.JPG", "txt", "a/4.TXT");
		check(&place, "a/4.JPG", "json", "a/4.Json");
		check(&place, "a/5.jpg", "txt", "a/5.txt");
		check(&place, "a/2021.03.04 x.jpg", "txt", "a/2021.03.04 x.txt");
		check(&place, "a/2021.03.05.jpg", "txt", NULL);
		check(&place, "b/1.jpg", "txt", NULL);
	}
	place_end(&place);
}

Test(dataset_beside, a_scan_sees_what_comes_changes_and_goes)
{
	struct place place;
	struct dataset_besides all;
	place_begin(&place);
	place_jpeg(&place, "a/1.jpg");
	place_jpeg(&place, "a/2.jpg");
	cr_assert_eq(place_open(&place), 0);
	roaring_bitmap_t *both = roaring_bitmap_from_range(0, 2, 1);
	cr_assert_eq(dataset_besides(place.dataset, both, "txt", &all), 0);
	cr_assert(all.n == 0 && all.missing == 0 && all.most == SAMPLE_NONE);

	place_text(&place, "a/1.txt", "one");
	cr_assert_eq(place_open(&place), 0);
	check(&place, "a/1.jpg", "txt", "a/1.txt");
	cr_assert_eq(dataset_besides(place.dataset, both, "txt", &all), 0);
	cr_assert(all.n == 1 && all.missing == 1 && all.most == 0 && all.most_bytes == 3);

	place_text(&place, "a/1.txt", "one more");
	place_text(&place, "a/2.txt", "two");
	cr_assert_eq(place_open(&place), 0);
	cr_assert_eq(dataset_besides(place.dataset, both, "txt", &all), 0);
	cr_assert(all.n == 2 && all.missing == SAMPLE_NONE && all.most_bytes == 8);
	cr_assert_eq(dataset_besides(place.dataset, both, "json", &all), 0);
	cr_assert_eq(all.n, 0);

	unlink(place_path(&place, "a/1.txt"));
	cr_assert_eq(place_open(&place), 0);
	check(&place, "a/1.jpg", "txt", NULL);
	check(&place, "a/2.jpg", "txt", "a/2.txt");
	roaring_bitmap_free(both);
	place_end(&place);
}

/* Finds the files with a sample's stem by their definition: an ending in small letters comes
 * first. */
static const char *expected_of(
	const char *sample, const char *ending, char (*files)[32], size_t n, bool whole)
{
	const char *best = NULL;
	const char *name = strrchr(sample, '/') + 1;
	const char *dot = whole ? strrchr(name, '.') : strchr(name, '.');
	size_t stem = (size_t)(dot - sample);
	for (size_t i = 0; i < n; i++) {
		const char *file = files[i];
		if (strlen(file) > stem && strncmp(file, sample, stem) == 0 &&
			file[stem] == '.' && strcasecmp(file + stem + 1, ending) == 0 &&
			(!best || strcmp(file, best) > 0))
			best = file;
	}
	return best;
}

Test(dataset_beside, any_names_as_by_the_definition)
{
	static const char *const parts[] = {"a", "a.b", "ab", "a b", "a.", "B", "b.a.b"};
	static const char *const endings[] = {"txt", "TXT", "Txt", "json", "npy"};
	for (int64_t seed = 0; seed < effort(6, 60); seed++) {
		struct place place;
		char samples[12][32], files[40][32];
		srand((unsigned)seed);
		place_begin(&place);
		for (int i = 0; i < 12; i++) {
			snprintf(samples[i], 32, "c%d/%s.%s", rand() % 2,
				parts[rand() % 7], rand() % 2 ? "jpg" : "png");
			place_jpeg(&place, samples[i]);
		}
		for (int i = 0; i < 40; i++) {
			snprintf(files[i], 32, "c%d/%s.%s", rand() % 2, parts[rand() % 7],
				endings[rand() % 5]);
			place_text(&place, files[i], files[i]);
		}
		cr_assert_eq(place_open(&place), 0);
		for (int i = 0; i < 12; i++)
			for (int k = 0; k < 5; k += 1 + (k == 0) * 2) {
				const char *file = expected_of(
					samples[i], endings[k], files, 40, true);
				if (!file)
					file = expected_of(
						samples[i], endings[k], files, 40, false);
				check(&place, samples[i], endings[k], file);
			}
		place_end(&place);
	}
}

Test(dataset_beside, many_files_of_one_stem_take_no_time)
{
	struct place place;
	char name[64];
	place_begin(&place);
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "a/x.%d.jpg", i);
		place_text(&place, name, "");
		snprintf(name, sizeof(name), "a/x.e%d", i);
		place_text(&place, name, "x");
		snprintf(name, sizeof(name), "a/x.%d.txt", i);
		place_text(&place, name, "y");
	}
	cr_assert_eq(place_open(&place), 0);
	sqlite3 *db;
	sqlite3_stmt *row;
	cr_assert_eq(catalogue_open_read(place.catalogue, &db), 0);
	cr_assert_eq(
		sqlite3_prepare_v2(db, "SELECT count(*) FROM beside", -1, &row, NULL),
		SQLITE_OK);
	cr_assert_eq(sqlite3_step(row), SQLITE_ROW);
	cr_assert_leq(sqlite3_column_int(row, 0), 300 * 17);
	sqlite3_finalize(row);
	sqlite3_close(db);
	check(&place, "a/x.17.jpg", "txt", "a/x.17.txt");
	place_end(&place);
}

Test(dataset_beside, texts_and_numbers_of_columns)
{
	struct place place;
	struct dataset_besides all;
	struct dataset_odd_number odd;
	float numbers[6] = {0};
	char *text;
	place_begin(&place);
	for (int i = 0; i < 3; i++) {
		char name[32];
		snprintf(name, sizeof(name), "a/%d.jpg", i);
		place_jpeg(&place, name);
	}
	place_text(&place, "metadata.csv",
		"file_name,caption,x,y,code\n"
		"a/0.jpg,\"a \"\"rose\"\"\nred\",1.5,-2,007\n"
		"a/2.jpg,,0.25,3,1\n"
		"a/1.jpg,caf\xc3\xa9,1e30,,-1e3\n");
	cr_assert_eq(place_open(&place), 0);
	struct dataset *dataset = place.dataset;
	roaring_bitmap_t *ids = roaring_bitmap_from_range(0, 3, 1);

	cr_assert(dataset_column(dataset, "caption") && dataset_column(dataset, "class"));
	cr_assert(!dataset_column(dataset, "mtime_ns") && !dataset_column(dataset, "z") &&
		  !dataset_column(dataset, "x\" "));
	cr_assert_eq(dataset_text(dataset, 0, "caption", &text), 0);
	cr_assert_str_eq(text, "a \"rose\"\nred");
	free(text);
	cr_assert_eq(dataset_text(dataset, 0, "x", &text), 0);
	cr_assert_str_eq(text, "1.5");
	free(text);
	cr_assert_eq(dataset_text(dataset, 1, "y", &text), -ENOENT);
	cr_assert_eq(dataset_text(dataset, 3, "y", &text), -ENOENT);
	cr_assert_eq(dataset_texts(dataset, ids, "caption", &all), 0);
	cr_assert(all.most == 0 && all.most_bytes == 12);

	cr_assert_eq(dataset_numbers(dataset, ids, "x", 2, numbers, &odd), 0);
	cr_assert(numbers[0] == 1.5F && numbers[2] == 1e30F && numbers[4] == 0.25F);
	cr_assert_eq(dataset_numbers(dataset, ids, "y", 2, numbers + 1, &odd), -EDOM);
	cr_assert(odd.sample == 1 && odd.found[0] == '\0');
	cr_assert_eq(dataset_numbers(dataset, ids, "caption", 2, numbers, &odd), -EDOM);
	cr_assert(odd.sample == 0);
	cr_assert_str_eq(odd.found, "a \"rose\"\nred");
	cr_assert_eq(dataset_numbers(dataset, ids, "code", 2, numbers, &odd), 0);
	cr_assert(numbers[0] == 7 && numbers[2] == -1000);
	roaring_bitmap_remove(ids, 1);
	cr_assert_eq(dataset_numbers(dataset, ids, "y", 2, numbers + 1, &odd), 0);
	cr_assert(numbers[1] == -2 && numbers[5] == 3);
	roaring_bitmap_free(ids);
	place_end(&place);
}
