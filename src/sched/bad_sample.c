// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "sched/sched_internal.h"

#include <errno.h>

/* The path as a text in SQL; the caller frees it. NULL: no memory. */
static char *quoted(const char *path)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	fputc('\'', out);
	for (; *path; path++)
		fprintf(out, "%s%c", *path == '\'' ? "'" : "", *path);
	fputc('\'', out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

void log_bad_sample(const char *dataset, const struct dataset_sample *sample,
	const struct load_task *task)
{
	bool bad = sample->relative && task->status != -ENOMEM;
	auto_free char *path = bad ? quoted(sample->relative) : NULL;
	if (path)
		log_warn("dataset %s: %s: %s; readers get EIO; in [job], where = path != "
			 "%s leaves it out",
			dataset, sample->path, task->message, path);
	else
		log_warn("dataset %s: %s: %s", dataset, sample->path ? sample->path : "?",
			task->message);
}
