// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/state_version.h"
#include "base/aprintf.h"
#include "base/escape.h"
#include "base/log.h"
#include "epoch/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

#define TEXT_OF(version) TEXT_OF_(version)
#define TEXT_OF_(version) "joaderfs state " #version "\n"
static const char text[] = TEXT_OF(STATE_VERSION);
/* Version 1 is accepted: its catalogues are brought up to date when they are used. */
static const char older[] = TEXT_OF(1);
#define OLDER 1

#define WHAT_TO_DO                                                                       \
	"no file was changed; please set another state = in [joaderfs], or move this "   \
	"directory away"

/* ret: the first line of the bytes, quoted for a message */
static void quote_line(const char *bytes, size_t n, char *ret, size_t size)
{
	char line[80];
	n = strnlen(bytes, n < sizeof(line) - 1 ? n : sizeof(line) - 1);
	memcpy(line, bytes, n);
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	ret[0] = '\0';
	auto_fclose FILE *out = fmemopen(ret, size, "w");
	if (out)
		escape_print(out, line);
}

/* Returns 0 for the present version, OLDER for version 1. -ENOENT, not logged: there is no file;
 * -EINVAL, logged: another version; -errno, logged: the file can't be read. */
static int check_file(const char *path)
{
	char found[256], quoted[512];
	size_t n;
	auto_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ENOENT : disk_cant(path, "read", -errno);
	int err = disk_read(fd, found, sizeof(found), 0, &n);
	if (err)
		return disk_cant(path, "read", err);
	if (n == strlen(text) && memcmp(found, text, n) == 0)
		return 0;
	if (n == strlen(older) && memcmp(found, older, n) == 0)
		return OLDER;
	quote_line(found, n, quoted, sizeof(quoted));
	log_error("%s: found \"%s\", allowed: \"%.*s\", of joaderfs %s; " WHAT_TO_DO,
		path, quoted, (int)strlen(text) - 1, text, JOADERFS_VERSION);
	return -EINVAL;
}

/* --- state from before there were versions --- */

static bool is_old(const char *name)
{
	return strcmp(name, "state") == 0 || fnmatch("epoch-*.ids", name, 0) == 0;
}

static int check_job(DIR *jobs, const char *path, const char *job)
{
	int fd =
		openat(dirfd(jobs), job, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	int err = 0;
	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err == -ENOTDIR ? 0 : disk_cant(path, "read", err);
	}
	for (const struct dirent *entry; !err && (entry = readdir(dir));)
		if (is_old(entry->d_name)) {
			log_error("%s: found %s/%s, of an older joaderfs, allowed: a new "
				  "directory, or one with a file `version`; " WHAT_TO_DO,
				path, job, entry->d_name);
			err = -EINVAL;
		}
	closedir(dir);
	return err;
}

static int check_jobs(const char *state)
{
	auto_free char *path = aprintf("%s/jobs", state);
	if (!path)
		return -ENOMEM;
	DIR *jobs = opendir(path);
	if (!jobs)
		return errno == ENOENT ? 0 : disk_cant(path, "read", -errno);
	int err = 0;
	for (const struct dirent *entry; !err && (entry = readdir(jobs));)
		if (entry->d_name[0] != '.')
			err = check_job(jobs, path, entry->d_name);
	closedir(jobs);
	return err;
}

static int create(const char *state, const char *path)
{
	int err = disk_replace(state, "version", text, 0644);
	return err ? disk_cant(path, "written", err) : 0;
}

int state_version_take(const char *state)
{
	auto_free char *path = aprintf("%s/version", state);
	if (!path)
		return -ENOMEM;
	int err = check_file(path);
	if (err == OLDER) {
		log_info("%s: this version takes over the state of an older joaderfs, "
			 "which refuses it from now on",
			path);
		return create(state, path);
	}
	if (err != -ENOENT)
		return err;
	err = check_jobs(state);
	return err ? err : create(state, path);
}
