// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * Prepares files as the daemon does, for tests/clients/exact. Reads lines of words separated by
 * tabs: settings of a job, SECTION.KEY=VALUE, and a file. Answers each line with a line "WIDTH
 * HEIGHT BYTES MESSAGE", followed by BYTES bytes of the file that a job would read; 0 0 0: the
 * image was refused. The catalogue contains the facts that a scan finds in the file's header.
 */

#include "config/config.h"
#include "dataset/dataset_internal.h"
#include "files/format.h"
#include "image/augment.h"
#include "load/load.h"

#include <string.h>
#include <sys/stat.h>

#define MOST_WORDS 20

struct request {
	struct job_config config;
	const char *path;
};

static void report(void *context, const char *message)
{
	(void)context;
	fprintf(stderr, "prepare: %s\n", message);
}

static bool parse(char *line, struct request *ret)
{
	const char *words[MOST_WORDS];
	size_t n = 0;
	line[strcspn(line, "\n")] = '\0';
	for (char *word = strtok(line, "\t"); word && n < MOST_WORDS;
		word = strtok(NULL, "\t"))
		words[n++] = word;
	if (n == 0)
		return false;
	ret->path = words[n - 1];
	return config_parse_job_with("job.ini", "[job]\nname = a\ndataset = a\n", words,
		       n - 1, report, NULL, &ret->config) == 0;
}

static bool describe(const char *path, struct load_task *task)
{
	struct stat st;
	task->path = path;
	uint8_t orientation;
	if (stat(path, &st) != 0 ||
		probe_header(path, &task->expected_image, &orientation) != 0)
		return false;
	task->orientation = orientation;
	task->expected_bytes = (uint64_t)st.st_size;
	task->expected_mtime_ns =
		(int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	return true;
}

static bool write_file(const struct job_config *config, const struct tensor *tensor)
{
	struct formatted file;
	if (format_make(config->format, config->pixels, tensor, 0, &file) < 0)
		return false;
	printf("%u %u %zu\n", tensor->shape.width, tensor->shape.height,
		(size_t)file.bytes);
	if (file.encoded) {
		fwrite(file.encoded, 1, file.bytes, stdout);
	} else {
		fwrite(file.head, 1, file.head_bytes, stdout);
		fwrite(tensor->data, 1, tensor->bytes, stdout);
	}
	format_free(&file);
	return true;
}

static bool write_sample(const struct job_config *config, const struct tensor *tensor)
{
	struct augment_plan plan = augment_plan(&config->augment, 0, 0, 0, tensor->shape);
	struct tensor *made;
	if (augment_apply(
		    &config->augment.normalize, config->pixels, &plan, tensor, &made) < 0)
		return false;
	bool ok = write_file(config, made ? made : tensor);
	tensor_free(made);
	return ok;
}

static bool answer(struct load_context *context, const struct request *request)
{
	struct load_task task = {.preparation = &request->config.preparation};
	if (!describe(request->path, &task))
		return false;
	load_prepare(context, &task);
	bool ok = true;
	if (task.tensor)
		ok = write_sample(&request->config, task.tensor);
	else
		printf("0 0 0 %s\n", task.message);
	tensor_free(task.tensor);
	return fflush(stdout) == 0 && ok;
}

int main(void)
{
	struct load_context *context;
	char line[5000];
	if (load_context_new(&context) != 0)
		return 1;
	bool ok = true;
	while (ok && fgets(line, sizeof(line), stdin)) {
		struct request request;
		ok = parse(line, &request) && answer(context, &request);
		if (ok)
			config_job_free(&request.config);
	}
	load_context_free(&context);
	return ok ? 0 : 1;
}
