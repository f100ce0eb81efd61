// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/log.h"
#include "dataset/dataset.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* The predicate of a job, on a catalogue of a few files. It is refused with a message, or selects
 * some of the samples, each time the same ones. The catalogue stays unchanged. */

#define N_FILES 6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_text(const char *path, const char *text)
{
	auto_fclose FILE *out = fopen(path, "w");
	ensure(out && fputs(text, out) >= 0);
}

static struct dataset *small_dataset(void)
{
	static char name[] = "small", extensions[] = "*";
	static const char *const files[N_FILES] = {
		"tree/a/1", "tree/a/2", "tree/a/3", "tree/b/1", "tree/b/x'y", "tree/b/%"};
	auto_free char *directory = NULL;
	const char *temporary = getenv("TMPDIR");
	ensure(asprintf(&directory, "%s/fuzz_where.XXXXXX",
		       temporary ? temporary : "/tmp") > 0);
	ensure(mkdtemp(directory) && chdir(directory) == 0);
	ensure(mkdir("tree", 0755) == 0 && mkdir("tree/a", 0755) == 0);
	ensure(mkdir("tree/b", 0755) == 0 && mkdir("state", 0755) == 0);
	for (int i = 0; i < N_FILES; i++)
		write_text(files[i], files[i]);
	write_text("tree/metadata.csv",
		"file_name,score,note\na/1,0.5,good\na/2,,\nb/1,7,\"a, b\"\n");
	auto_free char *tree = realpath("tree", NULL);
	auto_free char *state = realpath("state", NULL);
	struct dataset_config config = {
		.name = name, .path = tree, .extensions = extensions};
	struct dataset *dataset;
	ensure(log_to_file("/dev/null") == 0);
	ensure(dataset_open(&config, state, NULL, &dataset) == 0);
	return dataset;
}

/* Selects once. Functions such as random() must be refused, and a predicate must leave nothing
 * behind. */
static roaring_bitmap_t *select_once(struct dataset *dataset, const char *where)
{
	char *message;
	roaring_bitmap_t *selected;
	int err = dataset_select(dataset, where, &selected, &message);
	ensure(err == 0 || (err == -EINVAL && message && message[0] && !selected));
	ensure(err != 0 || !message);
	free(message);
	return selected;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct dataset *dataset;
	if (!dataset)
		dataset = small_dataset();
	auto_free char *where = strndup((const char *)data, size);
	ensure(where);
	roaring_bitmap_t *first = select_once(dataset, where);
	roaring_bitmap_t *second = select_once(dataset, where);
	ensure(!first == !second);
	if (!first)
		return 0;
	ensure(roaring_bitmap_equals(first, second));
	ensure(roaring_bitmap_is_empty(first) || roaring_bitmap_maximum(first) < N_FILES);
	roaring_bitmap_free(first);
	roaring_bitmap_free(second);
	return 0;
}
