// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/escape.h"
#include "base/log.h"
#include "supply/supply.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PLAIN 100 /* a longer path would make the ini's line too long */

/* Tells whether the path can be written in an ini and in the log without escapes. */
static bool is_plain(const char *path)
{
	size_t n = strlen(path);
	return n <= MOST_PLAIN && escape_length(path) == n && !strpbrk(path, ";#\\");
}

/* Returns a predicate for the key `where` that leaves out only this sample. The caller frees the
 * predicate. NULL: no memory. */
static char *all_but(const char *path)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	if (is_plain(path)) {
		fputs("path != '", out);
		for (; *path; path++)
			fprintf(out, "%s%c", *path == '\'' ? "'" : "", *path);
		fputc('\'', out);
	} else {
		fprintf(out, "hash(path) != %" PRIu64, dataset_hash(path));
	}
	return close_text(out, &text);
}

bool bad_sample_is_new(struct space *space, sample_id sample)
{
	roaring_bitmap_t *bad = space->source->bad;
	if (space->preparation.array) {
		if (!space->bad)
			space->bad = roaring_bitmap_create();
		bad = space->bad;
	}
	return !bad || roaring_bitmap_add_checked(bad, sample);
}

bool bad_sample_is_unchanged(
	struct dataset *dataset, sample_id id, uint64_t bytes, int64_t mtime_ns)
{
	struct dataset_sample sample = {0};
	bool same = dataset_get(dataset, id, &sample) == 0 && sample.bytes == bytes &&
		    sample.mtime_ns == mtime_ns;
	dataset_sample_free(&sample);
	return same;
}

void log_bad_sample(const char *dataset, const struct dataset_sample *sample,
	const struct load_task *task)
{
	bool bad = sample->relative && task->status != -ENOMEM;
	auto_free char *where = bad ? all_but(sample->relative) : NULL;
	if (where)
		log_warn("dataset %s: %s: %s; readers get EIO; where = %s in [job] "
			 "leaves it out",
			dataset, sample->path, task->message, where);
	else
		log_warn("dataset %s: %s: %s", dataset, sample->path ? sample->path : "?",
			task->message);
}
