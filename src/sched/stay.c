// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "sched/datasets.h"
#include "sched/sched_internal.h"

#include <dirent.h>
#include <fnmatch.h>

/* Finds the datasets whose jobs can't move to a later scan. Reads the jobs' inis: no dataset is
 * open, and no job is added yet. Mistakes in an ini are reported when its job is added. */

static void ignore(void *context, const char *message)
{
	(void)context;
	(void)message;
}

static void look_at_ini(const char *path, FILE *out)
{
	struct config_mixed of;
	struct job_config job;
	if (config_parse_job(path, NULL, ignore, NULL, &job) != 0)
		return;
	const char *text = job.dataset;
	while (move_obstacle(&job) && config_next_mixed(&text, &of))
		fprintf(out, "%s\n", of.name);
	config_job_free(&job);
}

/* Reads DIRECTORY/NAME.ini, or DIRECTORY/NAME/job.ini if ending is "/job.ini". */
static void look_at_directory(const char *directory, const char *ending, FILE *out)
{
	DIR *dir = opendir(directory);
	if (!dir)
		return;
	for (const struct dirent *entry; (entry = readdir(dir));) {
		auto_free char *path =
			aprintf("%s/%s%s", directory, entry->d_name, ending);
		if (path && entry->d_name[0] != '.' && fnmatch("*.ini", path, 0) == 0)
			look_at_ini(path, out);
	}
	closedir(dir);
}

char *sched_datasets_that_stay(const struct daemon_config *daemon)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	auto_free char *jobs = aprintf("%s/jobs", daemon->state);
	if (!out)
		return NULL;
	fputc('\n', out);
	/* All nodes of a group must have the same samples, so none of the node's jobs can move to a
	 * later scan. */
	bool group = daemon->cluster.engine || daemon->cluster.listen;
	for (size_t i = 0; group && i < daemon->n_datasets; i++)
		fprintf(out, "%s\n", daemon->datasets[i].name);
	if (daemon->jobs)
		look_at_directory(daemon->jobs, "", out);
	if (jobs)
		look_at_directory(jobs, "/job.ini", out);
	if (fclose(out) == 0 && jobs)
		return text;
	free(text);
	return NULL;
}
