// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * slow_storage SOURCE MOUNTPOINT MILLISECONDS: a file system that shows SOURCE, and takes this
 * time to open a file, for any number of files at once. Once read, a file's bytes are in the page
 * cache. Stopped by SIGSTOP, it is a storage that does not answer.
 */

#include "base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int source;
static struct timespec delay;

/* Returns the path relative to the root; "": the root. */
static const char *relative(const char *path)
{
	return path[1] ? path + 1 : ".";
}

static int slow_getattr(const char *path, struct stat *st, struct fuse_file_info *info)
{
	(void)info;
	return fstatat(source, relative(path), st, AT_SYMLINK_NOFOLLOW) ? -errno : 0;
}

static int slow_readdir(const char *path, void *buffer, fuse_fill_dir_t fill,
	off_t offset, struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
	(void)offset;
	(void)info;
	(void)flags;
	int fd = openat(source, relative(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	if (!directory)
		return -errno;
	while ((entry = readdir(directory)))
		if (fill(buffer, entry->d_name, NULL, 0, 0))
			break;
	closedir(directory);
	return 0;
}

static int slow_open(const char *path, struct fuse_file_info *info)
{
	int fd = openat(source, relative(path), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	nanosleep(&delay, NULL);
	info->fh = (uint64_t)fd;
	info->keep_cache = 1;
	return 0;
}

static int slow_read(const char *path, char *buffer, size_t size, off_t offset,
	struct fuse_file_info *info)
{
	(void)path;
	ssize_t n = pread((int)info->fh, buffer, size, offset);
	return n < 0 ? -errno : (int)n;
}

static int slow_release(const char *path, struct fuse_file_info *info)
{
	(void)path;
	close((int)info->fh);
	return 0;
}

static void *slow_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
	(void)connection;
	config->kernel_cache = 1;
	config->entry_timeout = config->attr_timeout = 3600;
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct fuse_operations operations = {.init = slow_init,
		.getattr = slow_getattr,
		.readdir = slow_readdir,
		.open = slow_open,
		.read = slow_read,
		.release = slow_release};
	static char foreground[] = "-f", options[] = "-oro,fsname=slow,max_threads=1100";
	if (argc != 4) {
		fputs("usage: slow_storage SOURCE MOUNTPOINT MILLISECONDS\n", stderr);
		return 2;
	}
	long ms = strtol(argv[3], NULL, 10);
	delay = (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	source = open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (source < 0) {
		perror(argv[1]);
		return 1;
	}
	char *arguments[] = {argv[0], foreground, options, argv[2], NULL};
	return fuse_main(4, arguments, &operations, NULL);
}
