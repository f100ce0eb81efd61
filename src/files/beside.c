// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "far/far.h"
#include "files/beside.h"
#include "load/load.h"
#include "sched/jobs.h"

#include <errno.h>
#include <string.h>

#define TEXT_ENDING "txt"

unsigned beside_count(const struct job_config *config)
{
	return config->beside.n + (config->text != NULL);
}

const char *beside_ending(const struct job_config *config, unsigned i)
{
	return i < config->beside.n ? config->beside.of[i] : TEXT_ENDING;
}

bool beside_number(const struct job_config *config, const char *ending, unsigned *ret)
{
	for (*ret = 0; *ret < beside_count(config); ++*ret)
		if (strcmp(ending, beside_ending(config, *ret)) == 0)
			return true;
	return false;
}

static int print_text(
	FILE *out, struct dataset *dataset, sample_id sample, const char *column)
{
	auto_free char *text = NULL;
	int err = dataset_text(dataset, sample, column, &text);
	if (!err)
		fputs(text, out);
	return err == -ENOENT ? 0 : err;
}

/* Prints a distant file. Repeats a read that fails, because the caller does not repeat it. */
static int print_far(const char *job, const struct dataset_sample *file, FILE *out)
{
	bool part = file->container != NULL;
	const struct far_object object = {.url = part ? file->container : file->path,
		.plain = part ? 0 : file->plain,
		.bytes = part ? file->part.container_bytes : file->bytes,
		.mtime_ns = file->mtime_ns};
	struct far_error error;
	auto_free uint8_t *bytes = malloc(file->bytes);
	if (!bytes)
		return -ENOMEM;
	int err = far_read_again(
		&object, part ? file->part.offset : 0, file->bytes, bytes, &error);
	if (err)
		log_warn("job %s: %s: %s", job, file->path, error.message);
	else
		fwrite(bytes, 1, file->bytes, out);
	return err && err != -ENOMEM && err != -EINTR ? -EIO : err;
}

static int read_file(const struct sched_edition *edition, const char *job,
	sample_id sample, const struct dataset_sample *file, FILE *out)
{
	struct load_task task = {.path = file->path,
		.container = file->container,
		.part = file->part,
		.root = file->container ? NULL
					: dataset_boundary_of(edition->dataset, sample),
		.expected_bytes = file->bytes,
		.expected_mtime_ns = file->mtime_ns};
	int err = load_bytes(&task);
	if (!err)
		fwrite(task.tensor->data, 1, task.tensor->bytes, out);
	else
		log_warn("job %s: %s: %s", job, file->path,
			*task.message ? task.message : strerror(-err));
	tensor_free(task.tensor);
	return err && err != -ENOMEM ? -EIO : err;
}

static int print_file(FILE *out, const struct sched_edition *edition,
	const struct job_config *config, sample_id sample, unsigned i)
{
	struct dataset_sample file;
	int err = dataset_beside(edition->dataset, sample, config->beside.of[i], &file);
	if (err)
		return err == -ENOENT ? 0 : err;
	const char *place = file.container ? file.container : file.path;
	if (file.bytes > 0 && far_is(place))
		err = print_far(config->name, &file, out);
	else if (file.bytes > 0)
		err = read_file(edition, config->name, sample, &file, out);
	dataset_sample_free(&file);
	return err;
}

int beside_print(
	FILE *out, struct sched_job *job, uint32_t epoch, sample_id sample, unsigned i)
{
	const struct job_config *config = sched_job_config(job);
	auto_edition *edition = sched_edition(job, epoch);
	if (i < config->beside.n)
		return print_file(out, edition, config, sample, i);
	return print_text(out, edition->dataset, sample, config->text);
}

int json_bytes(struct sched_job *job, uint32_t epoch, uint64_t *ret)
{
	auto_edition *edition = sched_edition(job, epoch);
	uint32_t longest;
	int err = dataset_json_longest(edition->dataset, &longest);
	if (!err)
		*ret = (uint64_t)longest + 1;
	return err;
}

int json_print(FILE *out, struct sched_job *job, uint32_t epoch, sample_id sample)
{
	auto_edition *edition = sched_edition(job, epoch);
	auto_free char *json = NULL;
	uint64_t bytes;
	int err = json_bytes(job, epoch, &bytes);
	if (!err)
		err = dataset_json(edition->dataset, sample, &json);
	if (!err)
		fprintf(out, "%-*s\n", (int)bytes - 1, json);
	return err;
}
