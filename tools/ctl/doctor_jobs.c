// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "doctor.h"

static bool has_images(const struct job_config *job)
{
	return job->format == FORMAT_PPM || job->format == FORMAT_BMP ||
	       job->format == FORMAT_PNG;
}

/* Tells whether the ini alone shows that the job's files are small. */
static bool has_small_files(const struct job_config *job)
{
	const struct preparation *how = &job->preparation;
	bool known = how->crop_width || (how->resize_width && how->resize_height);
	const struct tensor_shape large = {.height = 4096, .width = 4096};
	return known && !how->array && !how->encoded &&
	       config_has_small_files(job, preparation_bytes(how, large, 0));
}

static int check_job(void *context, const char *path)
{
	struct findings *findings = context;
	struct job_config job;
	if (config_parse_job(path, NULL, NULL, NULL, &job) != 0)
		return 0; /* the daemon reports this mistake when it starts */
	const struct preparation *how = &job.preparation;
	if (has_images(&job) && how->crop_width &&
		(how->resize_short || how->resize_width))
		found(findings, COSTS,
			"without crop, unless the script's transform is ToTensor alone",
			"job %s: resize and crop: a script that resizes and crops, too, "
			"gets only the middle of each image, enlarged and blurred",
			job.name);
	if (has_small_files(&job))
		found(findings, COSTS,
			"view.layout = batch, if the script can read batches",
			"job %s: the samples are so small that opening a file "
			"takes longer than preparing it",
			job.name);
	config_job_free(&job);
	return 0;
}

void check_jobs(struct findings *findings)
{
	const char *directory = findings->config ? findings->config->jobs : NULL;
	if (directory)
		(void)!config_each_ini(directory, check_job, findings);
}
