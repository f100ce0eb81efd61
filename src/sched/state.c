// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"
#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/*
 * <state>/jobs/<name>/
 *     state              id, dataset, samples, selection, running: "key value" lines
 *     job.ini            of jobs that were added at run time
 *     epoch-NNNN.ids     see order.h
 *     epoch-NNNN.log
 */

static bool hash_one(uint32_t id, void *context)
{
	uint64_t *hash = context;
	*hash = rng_mix(*hash, id);
	return true;
}

uint64_t state_selection_hash(const roaring_bitmap_t *selection)
{
	uint64_t hash = 0;
	roaring_iterate(selection, hash_one, &hash);
	return hash;
}

/* Whole or not at all: written beside, then renamed. */
static int replace_file(const char *directory, const char *name, const char *text)
{
	auto_free char *path = NULL;
	auto_free char *temporary = NULL;
	if (asprintf(&path, "%s/%s", directory, name) < 0 ||
		asprintf(&temporary, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	size_t n = strlen(text);
	auto_close int fd = mkostemp(temporary, O_CLOEXEC);
	int err = fd < 0 ? -errno : 0;
	if (!err) {
		ssize_t written = write(fd, text, n);
		if (written < 0)
			err = -errno;
		else if ((size_t)written != n)
			err = -ENOSPC;
		if (!err && rename(temporary, path) != 0)
			err = -errno;
		if (err)
			unlink(temporary);
	}
	if (err)
		log_error("%s: %s", path, strerror(-err));
	return err;
}

int state_save(const struct sched_job *job, int64_t running)
{
	auto_free char *text = NULL;
	if (asprintf(&text,
		    "id %" PRIu32 "\ndataset %s\nsamples %" PRIu32
		    "\nselection %016" PRIx64 "\nrunning %" PRId64 "\n",
		    job->id, job->config.dataset, job->samples, job->selection_hash,
		    running) < 0)
		return -ENOMEM;
	return replace_file(job->directory, "state", text);
}

int state_save_ini(const struct sched_job *job)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	config_print_job(out, &job->config);
	int err = fclose(out) == 0 ? 0 : -ENOMEM;
	if (!err)
		err = replace_file(job->directory, "job.ini", text);
	free(text);
	return err;
}

static int make_directory(const char *directory)
{
	if (mkdir(directory, 0755) == 0 || errno == EEXIST)
		return 0;
	int err = -errno;
	log_error("%s: %s", directory, strerror(-err));
	return err;
}

static void parse_state(FILE *in, const struct sched_job *job, struct job_state *ret)
{
	char dataset[256] = "";
	uint32_t samples = 0;
	uint64_t selection = 0;
	int n = fscanf(in,
		"id %" SCNu32 " dataset %255s samples %" SCNu32 " selection %" SCNx64
		" running %" SCNd64,
		&ret->id, dataset, &samples, &selection, &ret->running);
	ret->known = n >= 1;
	ret->same = n == 5 && samples == job->samples &&
		    strcmp(dataset, job->config.dataset) == 0 &&
		    selection == job->selection_hash;
}

int state_load(const struct sched_job *job, struct job_state *ret)
{
	*ret = (struct job_state){.running = -1};
	int err = make_directory(job->directory);
	if (err)
		return err;
	auto_free char *path = NULL;
	if (asprintf(&path, "%s/state", job->directory) < 0)
		return -ENOMEM;
	auto_fclose FILE *in = fopen(path, "re");
	if (in)
		parse_state(in, job, ret);
	else if (errno != ENOENT)
		return -errno;
	return 0;
}

static void remove_matching(const char *directory, const char *pattern)
{
	DIR *dir = opendir(directory);
	if (!dir)
		return;
	for (const struct dirent *entry; (entry = readdir(dir));)
		if (entry->d_name[0] != '.' && fnmatch(pattern, entry->d_name, 0) == 0 &&
			unlinkat(dirfd(dir), entry->d_name, 0) != 0)
			log_warn("%s/%s: %s", directory, entry->d_name, strerror(errno));
	closedir(dir);
}

void state_remove_epochs(const struct sched_job *job)
{
	remove_matching(job->directory, "epoch-*");
}

void state_remove(const struct sched_job *job)
{
	remove_matching(job->directory, "*");
	if (rmdir(job->directory) != 0 && errno != ENOENT)
		log_warn("%s: %s", job->directory, strerror(errno));
}
