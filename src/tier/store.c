// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "tier/store.h"
#include "base/disk_io.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/own_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define WRITE_BYTES ((size_t)64 << 10)
#define READ_FLAGS (O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
#define WRITE_FLAGS (O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC)

struct store {
	int directory, lock;
	uint64_t block;
};

static int take_lock(struct store *store, const char *directory)
{
	int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
	store->lock = openat(store->directory, "lock", flags, 0600);
	if (store->lock >= 0 && flock(store->lock, LOCK_EX | LOCK_NB) == 0)
		return 0;
	int err = -errno;
	log_error("tier %s: %s", directory,
		err == -EWOULDBLOCK ? "in use by another joaderfs, or under another name"
				    : strerror(-err));
	return err;
}

static int begin(struct store *store, const char *directory)
{
	struct statvfs system;
	int err = own_directory(directory, true);
	if (err)
		return err;
	store->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (store->directory < 0 || fstatvfs(store->directory, &system) != 0) {
		err = -errno;
		log_error("tier %s: %s", directory, strerror(-err));
		return err;
	}
	store->block = system.f_frsize > 512 ? system.f_frsize : 512;
	return take_lock(store, directory);
}

int store_open(const char *directory, struct store **ret)
{
	struct store *store = malloc(sizeof(*store));
	*ret = NULL;
	if (!store)
		return -ENOMEM;
	*store = (struct store){.directory = -1, .lock = -1};
	int err = begin(store, directory);
	if (err)
		store_close(&store);
	*ret = store;
	return err;
}

void store_close(struct store **store)
{
	if (!*store)
		return;
	if ((*store)->lock >= 0)
		close((*store)->lock);
	if ((*store)->directory >= 0)
		close((*store)->directory);
	free(*store);
	*store = NULL;
}

int store_directory(const struct store *store)
{
	return store->directory;
}

uint64_t store_room(const struct store *store, uint64_t bytes)
{
	uint64_t file = RECORD_HEAD + bytes;
	return (file + store->block - 1) / store->block * store->block + STORE_NAME;
}

struct store_path {
	char text[NAME_MAX + RECORD_NAME];
};

static struct store_path path_of(const struct stored *sample, const char *suffix)
{
	struct store_path path;
	char name[RECORD_NAME];
	record_name(sample->id, sample->identity, name);
	snprintf(path.text, sizeof(path.text), "%.*s/%s%s", NAME_MAX - 8, sample->dataset,
		name, suffix);
	return path;
}

static int read_all(int fd, void *ret, uint64_t bytes, uint64_t offset)
{
	size_t n;
	int err = disk_read(fd, ret, bytes, offset, &n);
	return !err && n < bytes ? -EBADMSG : err;
}

int store_read(
	struct store *store, const struct stored *sample, void *ret, uint64_t bytes)
{
	uint8_t head[RECORD_HEAD];
	struct stat st;
	int err = fault_hit("tier.read");
	auto_close int fd =
		err ? err
		    : openat(store->directory, path_of(sample, "").text, READ_FLAGS);
	if (fd < 0 || fstat(fd, &st) != 0)
		return err ? err : -errno;
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != RECORD_HEAD + bytes)
		return -EBADMSG;
	err = read_all(fd, head, sizeof(head), 0);
	if (!err)
		err = read_all(fd, ret, bytes, sizeof(head));
	if (!err && !record_is_whole(head, sample->id, sample->identity, ret, bytes))
		err = -EBADMSG;
	return err;
}

/* Makes the directories in a path that are missing. Adds their number to *count. */
static int make_directories(
	const struct store *store, struct store_path path, unsigned *count)
{
	for (char *slash = path.text; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		if (mkdirat(store->directory, path.text, 0700) == 0)
			++*count;
		else if (errno != EEXIST)
			return -errno;
	}
	return 0;
}

/* Makes the file of a sample, and its directories if they are missing. Returns a descriptor or
 * -errno. Adds to *count the number of directories that were made. */
static int make_file(
	const struct store *store, const struct store_path *path, unsigned *count)
{
	int err = fault_hit("tier.make");
	if (err)
		return err;
	int fd = openat(store->directory, path->text, WRITE_FLAGS, 0600);
	if (fd < 0 && errno == ENOENT) {
		err = make_directories(store, *path, count);
		if (err)
			return err;
		fd = openat(store->directory, path->text, WRITE_FLAGS, 0600);
	}
	return fd < 0 ? -errno : fd;
}

static int write_all(int fd, const uint8_t *bytes, uint64_t n, uint64_t offset)
{
	size_t done;
	int err = 0;
	for (uint64_t at = 0; !err && at < n; at += done) {
		uint64_t left = n - at;
		err = disk_write(fd, bytes + at, left < WRITE_BYTES ? left : WRITE_BYTES,
			offset + at, "tier.write", &done);
	}
	return err;
}

static int write_file(int fd, const struct stored *sample, const void *bytes, uint64_t n)
{
	uint8_t head[RECORD_HEAD];
	record_make_head(sample->id, sample->identity, bytes, n, head);
	int err = write_all(fd, head, sizeof(head), 0);
	if (!err)
		err = write_all(fd, bytes, n, sizeof(head));
	/* Some file systems report a full disk only at the close. */
	if (close(fd) != 0 && !err)
		err = -errno;
	return err;
}

/* Does not sync: the checksum of the sample reveals damage by a power failure. */
int store_write(struct store *store, const struct stored *sample, const void *bytes,
	uint64_t n, unsigned *ret_directories)
{
	struct store_path path = path_of(sample, ""), new = path_of(sample, RECORD_NEW);
	*ret_directories = 0;
	int fd = make_file(store, &new, ret_directories);
	if (fd < 0)
		return fd;
	int err = write_file(fd, sample, bytes, n);
	if (!err)
		err = fault_hit("tier.rename");
	if (!err &&
		renameat(store->directory, new.text, store->directory, path.text) != 0)
		err = -errno;
	if (err)
		(void)unlinkat(store->directory, new.text, 0);
	return err;
}

void store_remove(struct store *store, const struct stored *sample)
{
	(void)unlinkat(store->directory, path_of(sample, "").text, 0);
}
