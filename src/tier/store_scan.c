// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "tier/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Scans names and sizes. A file's content is checked when the sample is read. */

/* The directory that is being scanned. */
struct place {
	struct store *store;
	struct store_scan *scan;
	const char *dataset;   /* NULL in the tier's directory */
	const char *directory; /* NULL in the tier's directory, and in a dataset's */
};

static bool ends_in_new(const char *name)
{
	size_t n = strlen(name), suffix = strlen(RECORD_NEW);
	return n > suffix && strcmp(name + n - suffix, RECORD_NEW) == 0;
}

/* Tells whether a sample's file has this name, with or without the ending RECORD_NEW. */
static bool is_ours(const struct place *place, const char *name, struct stored *ret)
{
	char whole[64];
	int n = (int)strlen(name);
	if (ends_in_new(name))
		n -= (int)strlen(RECORD_NEW);
	if (n >= (int)sizeof(whole))
		return false;
	snprintf(whole, sizeof(whole), "%.*s", n, name);
	ret->dataset = place->dataset;
	return record_parse_name(place->directory, whole, &ret->id, &ret->identity);
}

static void see_file(const struct place *place, int directory, const char *name)
{
	struct store_scan *scan = place->scan;
	struct stored sample;
	struct stat st;
	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	if (!S_ISREG(st.st_mode) || !is_ours(place, name, &sample)) {
		scan->strange++;
		return;
	}
	if (ends_in_new(name) || st.st_size < RECORD_HEAD) {
		(void)unlinkat(directory, name, 0);
		return;
	}
	uint64_t room = store_room(place->store, (uint64_t)st.st_size - RECORD_HEAD);
	uint64_t blocks = (uint64_t)st.st_blocks * 512 + STORE_NAME;
	scan->found(scan->context, &sample, blocks > room ? blocks : room);
}

static int see_directory(const struct place *place, int parent, const char *name);

static int see(const struct place *place, int directory, const struct dirent *entry)
{
	struct place inner = *place;
	if (entry->d_name[0] == '.')
		return 0;
	if (place->directory) {
		see_file(place, directory, entry->d_name);
		return 0;
	}
	if (place->dataset)
		inner.directory = entry->d_name;
	else if (strcmp(entry->d_name, "lock") == 0)
		return 0;
	else
		inner.dataset = entry->d_name;
	int err = see_directory(&inner, directory, entry->d_name);
	if (err == -ENOMEM)
		return err;
	/* An entry that can't be scanned, such as lost+found, is not the tier's. */
	place->scan->strange += err != 0;
	return 0;
}

static int list(const struct place *place, DIR *directory)
{
	const struct store_scan *scan = place->scan;
	int err = 0;
	while (!err && !(scan->stop && atomic_load(scan->stop))) {
		errno = 0;
		const struct dirent *entry = readdir(directory);
		if (!entry)
			return -errno;
		err = see(place, dirfd(directory), entry);
	}
	return err;
}

static int see_directory(const struct place *place, int parent, const char *name)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	struct stat st;
	int fd = openat(parent, name, flags);
	if (fd < 0)
		return -errno;
	DIR *directory = fdopendir(fd);
	if (!directory) {
		close(fd);
		return -ENOMEM;
	}
	uint64_t room = STORE_DIRECTORY;
	if (fstat(fd, &st) == 0 && (uint64_t)st.st_blocks * 512 > room)
		room = (uint64_t)st.st_blocks * 512;
	place->scan->directories += room;
	int err = list(place, directory);
	closedir(directory);
	return err;
}

int store_scan(struct store *store, struct store_scan *scan)
{
	const struct place root = {.store = store, .scan = scan};
	scan->directories = 0;
	scan->strange = 0;
	return see_directory(&root, store_directory(store), ".");
}
