// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "config/config_internal.h"

#include <errno.h>
#include <string.h>

/* What is wrong although each key on its own is right. */

static void check_source(struct ini *ini, struct job_config *job)
{
	static const char *const keys[] = {"resize", "crop"};
	job->preparation.encoded = job->format == FORMAT_SOURCE;
	for (size_t i = 0; i < 2; i++) {
		unsigned line = ini_line(ini, SECTION_TENSOR, keys[i]);
		if (line && job->preparation.encoded)
			ini_mistake(ini, line, "tensor", keys[i],
				"found \"%s\", allowed: not with format = source, which "
				"gives the file as it is",
				keys[i]);
	}
}

static void check_raw(struct ini *ini, const struct job_config *job)
{
	if (job->format == FORMAT_RAW && !preparation_fixed_size(&job->preparation))
		ini_mistake(ini, ini_line(ini, SECTION_TENSOR, "format"), "tensor",
			"format",
			"found \"raw\", allowed: only with crop = N, crop = WxH or "
			"resize = WxH, since a raw file does not tell its size");
}

/* The ending that goes with the format. */
static void default_extension(struct ini *ini, struct job_config *job)
{
	static const char *const endings[] = {
		[FORMAT_PPM] = "ppm",
		[FORMAT_BMP] = "bmp",
		[FORMAT_PNG] = "png",
		[FORMAT_NPY] = "npy",
		[FORMAT_RAW] = "raw",
		[FORMAT_SOURCE] = "jpg",
	};
	if (job->extension)
		return;
	job->extension = strdup(endings[job->format]);
	if (!job->extension)
		ini->err = -ENOMEM;
}

static int finish(struct ini *ini, struct job_config *ret)
{
	struct job_config job = {0};
	unsigned before = ini->mistakes;
	if (!ini->other_kind && !ini->err) {
		for (int id = SECTION_JOB; id <= SECTION_VIEW; id++)
			ini_fill(ini, ini_section(ini, (enum section_id)id),
				(enum section_id)id, NULL, &job);
		check_source(ini, &job);
		if (ini->mistakes == before)
			check_raw(ini, &job);
		default_extension(ini, &job);
	}
	job.file = strdup(ini->file);
	if (!job.file)
		ini->err = -ENOMEM;
	int err = ini_result(ini);
	if (err)
		config_job_free(&job);
	else
		*ret = job;
	return err;
}

int config_parse_job(const char *file, const char *text, config_report *report,
	void *context, struct job_config *ret)
{
	struct ini ini = {
		.file = file, .kind = INI_JOB, .report = report, .context = context};
	ini_read(&ini, text);
	int err = finish(&ini, ret);
	ini_free(&ini);
	return err;
}

int config_load_job(
	const char *path, config_report *report, void *context, struct job_config *ret)
{
	struct ini ini = {
		.file = path, .kind = INI_JOB, .report = report, .context = context};
	int err = ini_read_file(&ini);
	if (!err)
		err = finish(&ini, ret);
	ini_free(&ini);
	return err;
}

void config_job_free(struct job_config *config)
{
	for (int id = SECTION_JOB; id <= SECTION_VIEW; id++)
		config_free_fields((enum section_id)id, config);
	free(config->file);
	*config = (struct job_config){0};
}
