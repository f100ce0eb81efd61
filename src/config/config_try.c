// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config_try.h"
#include "base/aprintf.h"
#include "config/config_internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "--try"

static const struct try_job {
	/* crop: a key of [tensor] for layouts whose samples must have one size */
	const char *name, *settings, *crop;
} jobs[] = {
	{"classes", "layout = classes\n", ""},
	{"flat", "layout = flat\n", ""},
	{"batch", "layout = batch\nbatch = 64\n", "crop = 224\n"},
	{"tar", "layout = tar\nshard = 1000\n", ""},
	{"mirror", "layout = mirror\n", ""},
};

/* Makes a valid name from the last part of the path. Puts - in place of each character that a name
 * must not have. */
static void find_name(const char *directory, char ret[static 33])
{
	static const char allowed[] = LETTERS_DIGITS "._-";
	size_t end = strlen(directory), n = 0;
	while (end > 1 && directory[end - 1] == '/')
		end--;
	size_t begin = end;
	while (begin > 0 && directory[begin - 1] != '/')
		begin--;
	while (begin < end && directory[begin] == '.')
		begin++;
	for (; begin < end && n < 32; begin++)
		ret[n++] = strchr(allowed, directory[begin]) ? directory[begin] : '-';
	strcpy(ret + n, n > 0 ? "" : "images");
}

static int take_places(struct daemon_config *config, const char *directory)
{
	struct dataset_config *dataset = &config->datasets[0];
	auto_free char *here = getcwd(NULL, 0);
	auto_free char *state = config->state;
	if (!here)
		return -errno;
	free(dataset->path);
	dataset->path = strstr(directory, "://") ? strdup(directory)
						 : config_path_absolute(here, directory);
	config->state = aprintf("%s/try/%s", state, dataset->name);
	return dataset->path && config->state ? 0 : -ENOMEM;
}

int config_try_daemon(const char *directory, config_report *report, void *context,
	struct daemon_config *ret)
{
	char name[33];
	find_name(directory, name);
	auto_free char *text = aprintf("[dataset %s]\npath = /\n", name);
	if (!text)
		return -ENOMEM;
	int err = config_parse_daemon(FILE_NAME, text, report, context, ret);
	if (!err && (err = take_places(ret, directory)) != 0)
		config_daemon_free(ret);
	return err;
}

int config_try_job(size_t i, const char *dataset, config_report *report, void *context,
	struct job_config *ret)
{
	if (i >= sizeof(jobs) / sizeof(jobs[0]))
		return -ENOENT;
	auto_free char *text = aprintf("[job]\nname = %s\ndataset = %s\n"
				       "[tensor]\nresize = 256\n%s[view]\n%s",
		jobs[i].name, dataset, jobs[i].crop, jobs[i].settings);
	if (!text)
		return -ENOMEM;
	return config_parse_job(FILE_NAME, text, report, context, ret);
}

void config_try_print(FILE *out, const char *mountpoint)
{
	fprintf(out,
		"A script reads one of these, each of which has its own order:\n"
		"  %s/jobs/classes/current   a directory per class, as ImageFolder "
		"reads it\n"
		"  %s/jobs/flat/current      images and labels, in order\n"
		"  %s/jobs/batch/current     64 images in a file, for NumPy\n"
		"  %s/jobs/tar/current       shards, for WebDataset\n"
		"  %s/jobs/mirror/current    the dataset's own names\n"
		"All images are resized to 256, for the script's own crop; in batch they "
		"are cropped to 224.\n"
		"joaderctl ls shows how the jobs are served; %s/jobs/flat/job.ini is an "
		"ini to\n"
		"begin with; umount %s ends it.\n",
		mountpoint, mountpoint, mountpoint, mountpoint, mountpoint, mountpoint,
		mountpoint);
	(void)fflush(out);
}
