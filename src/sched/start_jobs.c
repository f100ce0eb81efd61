// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "config/config_try.h"
#include "sched/jobs.h"
#include "sched/sched_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

/* Adds the jobs with which the daemon starts. */

static int is_ini(const struct dirent *entry)
{
	return fnmatch("*.ini", entry->d_name, FNM_PERIOD) == 0;
}

static int add_ini(struct sched *sched, const char *directory, const char *file)
{
	struct job_config config;
	auto_free char *path = NULL;
	if (asprintf(&path, "%s/%s", directory, file) < 0)
		return -ENOMEM;
	int err = config_load_job(path, config_report_to_log, NULL, &config);
	if (err)
		return err;
	err = sched_job_add(sched, &config, false, config_report_to_log, NULL);
	config_job_free(&config);
	return err;
}

static int add_jobs_to_try(struct sched *sched, const char *dataset)
{
	struct job_config config;
	int err = 0;
	for (size_t i = 0; !err; i++) {
		err = config_try_job(i, dataset, config_report_to_log, NULL, &config);
		if (err)
			break;
		err = sched_job_add(sched, &config, false, config_report_to_log, NULL);
		config_job_free(&config);
	}
	return err == -ENOENT ? 0 : err;
}

static int add_inis(struct sched *sched, const struct daemon_config *daemon)
{
	struct dirent **entries = NULL;
	int err = 0;
	int n = scandir(daemon->jobs, &entries, is_ini, alphasort);
	if (n < 0) {
		err = -errno;
		log_error("%s:[joaderfs]:jobs: %s: %s", daemon->file, daemon->jobs,
			strerror(-err));
	}
	for (int i = 0; i < n; i++) {
		int this = add_ini(sched, daemon->jobs, entries[i]->d_name);
		err = err ? err : this;
		free(entries[i]);
	}
	free(entries);
	return err;
}

int sched_jobs_begin(struct sched *sched, const struct daemon_config *daemon, bool tries)
{
	int err = tries ? add_jobs_to_try(sched, daemon->datasets[0].name) : 0;
	if (!err && daemon->jobs)
		err = add_inis(sched, daemon);
	if (!err)
		sched_jobs_restore(sched);
	return err;
}
