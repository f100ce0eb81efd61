// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "top_internal.h"

/* The text has no control characters, because the daemon has escaped them. */
static void print_text(FILE *out, const char *key, const char *text)
{
	fprintf(out, "\"%s\": \"", key);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputs("\", ", out);
}

#define PRINT(name) fprintf(out, "\"" #name "\": %.12g, ", of->name);

static void print_job(FILE *out, const struct top_job *of)
{
	fputc('{', out);
	print_text(out, "name", of->name);
	print_text(out, "dataset", of->dataset);
	print_text(out, "state", of->state);
	TOP_JOB(PRINT)
	PRINT(per_second)
	fprintf(out,
		"\"exposed\": {\"all\": %.6g, \"storage\": %.6g, \"decoding\": %.6g, "
		"\"queue\": %.6g, \"filesystem\": %.6g}}",
		of->exposed, of->cause[TOP_STORAGE_WAIT], of->cause[TOP_DECODING],
		of->cause[TOP_QUEUE], of->cause[TOP_FILE_SYSTEM]);
}

static void print_storage(FILE *out, const struct top_storage *of)
{
	fputc('{', out);
	print_text(out, "name", of->name);
	TOP_STORAGE(PRINT)
	PRINT(reads_per_second)
	fprintf(out, "\"bytes_per_second\": %.12g}", of->bytes_per_second);
}

void top_print_json(FILE *out, const struct top_sample *of)
{
	fputc('{', out);
	print_text(out, "mountpoint", of->mountpoint);
	TOP_DAEMON(PRINT)
	PRINT(seconds)
	PRINT(served_per_second)
	PRINT(decodes_per_second)
	PRINT(busy)
	PRINT(source_per_second)
	PRINT(tier_per_second)
	fputs("\"storages\": [", out);
	for (size_t i = 0; i < of->n_storages; i++) {
		fputs(i ? ", " : "", out);
		print_storage(out, &of->storages[i]);
	}
	fputs("], \"jobs\": [", out);
	for (size_t i = 0; i < of->n_jobs; i++) {
		fputs(i ? ", " : "", out);
		print_job(out, &of->jobs[i]);
	}
	fputs("]}\n", out);
}
