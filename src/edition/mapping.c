// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/log.h"
#include "edition/edition_internal.h"
#include "epoch/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * Decides whether a file of layout = classes holds the same sample in every epoch (mapping =
 * fixed), or another sample of its label in each epoch (fresh).
 *
 * With mapping = fixed, a file's sample depends neither on the order of opens, nor on the number of
 * processes that open files. The epochs are still in random order, because a script that reads
 * classes shuffles the files by itself. With mapping = fresh, joaderfs can give a file a sample of
 * its label that is in the cache. This pays off if the tensors do not fit into the cache.
 *
 * The choice of `auto` is kept as long as the job's directory, because all orders of a job must
 * have one mapping.
 */

#define MAPPING_FILE "mapping"

static const char fixed[] = "fixed\n", fresh[] = "fresh\n";

/* Sets `text` to the saved choice, or "" if there is none. -EINVAL: the file has no mapping. */
static int read_choice(const struct job *job, char text[static 16])
{
	size_t bytes = 0;
	text[0] = '\0';
	auto_free char *path = aprintf("%s/" MAPPING_FILE, job->directory);
	if (!path)
		return -ENOMEM;
	auto_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int err = fd < 0 ? (errno == ENOENT || errno == ENOTDIR ? 0 : -errno)
			 : disk_read(fd, text, 15, 0, &bytes);
	text[bytes] = '\0';
	if (!err && fd >= 0 && strcmp(text, fixed) != 0 && strcmp(text, fresh) != 0)
		err = -EINVAL;
	if (err)
		log_error("%s: %s", path,
			err == -EINVAL ? "found another text, allowed: fixed or fresh, "
					 "the mapping of the job's epochs"
				       : strerror(-err));
	return err;
}

/* Tells in *ret whether the job has a journal. If it has one, but no saved mapping, an earlier
 * joaderfs made the journal, with mapping = fresh. */
static int has_journal(const struct job *job, bool *ret)
{
	struct order_found *found = NULL;
	size_t n = 0;
	int err = access(job->directory, F_OK) == 0
			  ? journal_sets(job->directory, &found, &n)
			  : 0;
	free(found);
	*ret = n > 0;
	return err;
}

int mapping_choose(struct job *job, uint64_t all_bytes)
{
	const struct job_config *config = &job->config;
	char text[16];
	bool old = false;
	if (config->layout != LAYOUT_CLASSES || config->order != ORDER_SHUFFLED)
		return 0;
	job->fixed = config->mapping == MAPPING_FIXED;
	if (config->mapping != MAPPING_AUTO)
		return 0;
	int err = read_choice(job, text);
	if (!err && !text[0])
		err = has_journal(job, &old);
	if (err)
		return err;
	job->fixed = text[0] ? strcmp(text, fixed) == 0
			     : !old && all_bytes <= job->supply->config->cache_bytes;
	return 0;
}

int mapping_keep(const struct job *job)
{
	if (job->config.mapping != MAPPING_AUTO || job->config.layout != LAYOUT_CLASSES)
		return 0;
	int err = disk_replace(
		job->directory, MAPPING_FILE, job->fixed ? fixed : fresh, 0644);
	if (err)
		log_error("%s/" MAPPING_FILE ": %s", job->directory, strerror(-err));
	return err;
}
