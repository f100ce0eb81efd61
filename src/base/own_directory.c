// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/own_directory.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static int cant(const char *key, const char *path, const char *what)
{
	int err = -errno;
	log_error("%s%s: can't be %s: %s", key, path, what, strerror(-err));
	return err;
}

static int judge(const char *key, const char *path, const struct stat *found)
{
	unsigned mode = found->st_mode & 07777;
	if (found->st_uid != geteuid()) {
		log_error("%s%s: found a directory of user %u, allowed: a directory of "
			  "user %u, the daemon's",
			key, path, found->st_uid, geteuid());
		return -EPERM;
	}
	if (mode & (S_IWGRP | S_IWOTH)) {
		log_error("%s%s: found mode %04o, which lets others write there, "
			  "allowed: at most 0755",
			key, path, mode);
		return -EPERM;
	}
	return 0;
}

/* Writes the directory's name to the disk, so that a power failure can't lose it. */
static void sync_name(const char *path, int directory)
{
	auto_close int parent =
		openat(directory, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* EINVAL: the file system can't sync directories */
	if (parent < 0 || (fsync(parent) != 0 && errno != EINVAL))
		log_warn("%s: can't be written to the disk: %s; a power failure may "
			 "lose it",
			path, strerror(errno));
}

int own_directory(const char *path, bool may_be_link)
{
	return own_directory_of("", path, may_be_link);
}

int own_directory_of(const char *key, const char *path, bool may_be_link)
{
	struct stat found;
	bool made = mkdir(path, 0700) == 0;
	if (!made && errno != EEXIST)
		return cant(key, path, "made");
	int flags = O_PATH | O_DIRECTORY | O_CLOEXEC | (may_be_link ? 0 : O_NOFOLLOW);
	auto_close int fd = open(path, flags);
	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP)) {
		log_error(
			"%s%s: found a link or a file, allowed: a directory", key, path);
		return -ENOTDIR;
	}
	if (fd < 0 || fstat(fd, &found) != 0)
		return cant(key, path, "opened");
	if (made)
		sync_name(path, fd);
	return judge(key, path, &found);
}
