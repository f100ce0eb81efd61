// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * scan STATE LOG: opens datasets as the daemon does, for tests/clients/containers.py and
 * metadata.py. Reads lines of a word and arguments, which are in hexadecimal:
 *
 *   open PATH scans the path, with a new state directory; answers "ok", or "refused"
 *   samples a line for each sample, separated by tabs: path, class, and size and CRC-32
 *                   of the bytes that a job reads, or "EIO"
 *   where TEXT the path of each sample that this predicate selects, or "refused"
 *   json a line of JSON for each sample
 *   classes a line for each class
 *
 * A line with a point ends each answer. The log is about the last open.
 */

#include "base/ensure.h"
#include "base/log.h"
#include "dataset/dataset_internal.h"
#include "load/load.h"

#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

struct scanner {
	const char *state, *log;
	char catalogue[PATH_MAX];
	struct load_context *context;
	struct dataset *dataset;
};

static void open_dataset(struct scanner *scanner, char *path)
{
	static char name[] = "x", extensions[] = "jpg jpeg png";
	const struct dataset_config config = {
		.name = name, .path = path, .extensions = extensions};
	dataset_close(&scanner->dataset);
	(void)unlink(scanner->catalogue);
	ensure(truncate(scanner->log, 0) == 0);
	int err =
		dataset_open_threads(&config, scanner->state, NULL, 1, &scanner->dataset);
	puts(err ? "refused" : "ok");
}

static void print_sample(struct scanner *scanner, const struct dataset_sample *sample)
{
	const struct preparation encoded = {.encoded = true};
	struct load_task task = {.path = sample->path,
		.container = sample->container,
		.part = sample->part,
		.expected_bytes = sample->bytes,
		.expected_mtime_ns = sample->mtime_ns,
		.preparation = &encoded};
	load_prepare(scanner->context, &task);
	printf("%s\t%s\t", sample->relative,
		dataset_class_name(scanner->dataset, sample->label));
	if (task.status)
		puts("EIO");
	else
		printf("%zu %08lx\n", (size_t)task.tensor->bytes,
			crc32(0, task.tensor->data, (uInt)task.tensor->bytes));
	tensor_free(task.tensor);
}

static void print_samples(struct scanner *scanner)
{
	for (sample_id id = 0; id < dataset_ids(scanner->dataset); id++) {
		struct dataset_sample sample;
		ensure(dataset_get(scanner->dataset, id, &sample) == 0);
		print_sample(scanner, &sample);
		dataset_sample_free(&sample);
	}
}

static void print_selected(struct scanner *scanner, const char *where)
{
	roaring_bitmap_t *selected;
	char *message;
	int err = dataset_select(scanner->dataset, where, &selected, &message);
	if (err)
		puts("refused");
	for (sample_id id = 0; !err && id < dataset_ids(scanner->dataset); id++) {
		struct dataset_sample sample;
		if (!roaring_bitmap_contains(selected, id))
			continue;
		ensure(dataset_get(scanner->dataset, id, &sample) == 0);
		puts(sample.relative);
		dataset_sample_free(&sample);
	}
	free(message);
	if (selected)
		roaring_bitmap_free(selected);
}

static void print_json(struct scanner *scanner)
{
	for (sample_id id = 0; id < dataset_ids(scanner->dataset); id++) {
		auto_free char *json = NULL;
		ensure(dataset_json(scanner->dataset, id, &json) == 0);
		puts(json);
	}
}

static void answer(struct scanner *scanner, const char *word, char *argument)
{
	if (strcmp(word, "open") == 0)
		open_dataset(scanner, argument);
	else if (!scanner->dataset)
		puts("refused");
	else if (strcmp(word, "samples") == 0)
		print_samples(scanner);
	else if (strcmp(word, "where") == 0)
		print_selected(scanner, argument);
	else if (strcmp(word, "json") == 0)
		print_json(scanner);
	else if (strcmp(word, "classes") == 0)
		for (uint32_t i = 0; i < dataset_classes(scanner->dataset); i++)
			puts(dataset_class_name(scanner->dataset, i));
	puts(".");
	fflush(stdout);
}

/* Replaces the digits by the text. */
static char *from_hexadecimal(char *digits)
{
	size_t n = strlen(digits) / 2;
	for (size_t i = 0; i < n; i++) {
		unsigned byte;
		ensure(sscanf(digits + 2 * i, "%2x", &byte) == 1);
		digits[i] = (char)byte;
	}
	digits[n] = '\0';
	return digits;
}

int main(int argc, char **argv)
{
	auto_free char *line = NULL;
	size_t room = 0;
	ssize_t n;
	if (argc != 3) {
		fprintf(stderr, "usage: %s STATE LOG\n", argv[0]);
		return 2;
	}
	struct scanner scanner = {.state = argv[1], .log = argv[2]};
	snprintf(scanner.catalogue, sizeof(scanner.catalogue), "%s/datasets/x.sqlite",
		argv[1]);
	if (log_to_file(argv[2]) != 0 || load_context_new(&scanner.context) != 0)
		return 1;
	while ((n = getline(&line, &room, stdin)) > 0) {
		line[n - 1] = '\0';
		char *argument = strchr(line, ' ');
		if (argument)
			*argument++ = '\0';
		answer(&scanner, line, argument ? from_hexadecimal(argument) : NULL);
	}
	dataset_close(&scanner.dataset);
	load_context_free(&scanner.context);
	return 0;
}
