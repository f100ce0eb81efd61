// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/log.h"
#include "config/config_try.h"
#include "sched/jobs.h"
#include "sched/sched_internal.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

struct adding {
	struct sched *sched;
	int err; /* the first error */
};

/* Adds a job, and frees its configuration. */
static int add(struct sched *sched, struct job_config *config)
{
	int err = sched_job_add(sched, config, false, config_report_to_log, NULL);
	config_job_free(config);
	return err;
}

static int add_file(struct sched *sched, const char *path)
{
	struct job_config config;
	int err = config_parse_job(path, NULL, config_report_to_log, NULL, &config);
	return err ? err : add(sched, &config);
}

static int add_ini(void *context, const char *path)
{
	struct adding *adding = context;
	int err = add_file(adding->sched, path);
	adding->err = adding->err ? adding->err : err;
	return 0;
}

static int add_jobs_to_try(struct sched *sched, const char *dataset)
{
	struct job_config config;
	int err = 0;
	for (size_t i = 0; !err; i++) {
		err = config_try_job(i, dataset, config_report_to_log, NULL, &config);
		if (!err)
			err = add(sched, &config);
	}
	return err == -ENOENT ? 0 : err;
}

static int add_inis(struct sched *sched, const struct daemon_config *daemon)
{
	struct adding adding = {.sched = sched};
	int err = config_each_ini(daemon->jobs, add_ini, &adding);
	if (err)
		log_error("%s:[joaderfs]:jobs: %s: %s", daemon->file, daemon->jobs,
			strerror(-err));
	return err ? err : adding.err;
}

static void restore_one(struct sched *sched, const char *directory, const char *name)
{
	auto_free char *path = aprintf("%s/%s/job.ini", directory, name);
	auto_job *there = sched_job_find(sched, name);
	if (path && !there && access(path, F_OK) == 0)
		(void)!add_file(sched, path);
}

void sched_jobs_restore(struct sched *sched)
{
	auto_free struct dirent **entries = NULL;
	auto_free char *directory = aprintf("%s/jobs", sched->config->state);
	if (!directory)
		return;
	int n = scandir(directory, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.')
			restore_one(sched, directory, entries[i]->d_name);
		free(entries[i]);
	}
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
