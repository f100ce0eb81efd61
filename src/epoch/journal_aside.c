// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/journal_internal.h"
#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/*
 * The directory before/ is replaced as a whole. If the process ends before step 3, the next start
 * undoes steps 1 and 2:
 *
 *  1. files -> before.new/       3. before.new/ -> before/
 *  2. before/ -> before.old/     4. before.old/ removed
 */

static bool is_one_of(const char *name, const char *prefix, const char *const *suffixes)
{
	size_t n = strlen(prefix);
	if (strncmp(name, prefix, n) != 0)
		return false;
	size_t digits = strspn(name + n, "0123456789");
	for (; digits >= 4 && *suffixes; suffixes++)
		if (strcmp(name + n + digits, *suffixes) == 0)
			return true;
	return false;
}

static int is_ours(const struct dirent *entry)
{
	static const char *const journals[] = {"", ".new", ".damaged", ".running",
		".running.new", ".draining", ".draining.new", NULL};
	static const char *const orders[] = {".order", ".order.new", NULL};
	return is_one_of(entry->d_name, JOURNAL_PREFIX, journals) ||
	       is_one_of(entry->d_name, "epoch-", orders);
}

static int compare_files(const struct dirent **a, const struct dirent **b)
{
	bool a_journal = (*a)->d_name[0] == JOURNAL_PREFIX[0];
	bool b_journal = (*b)->d_name[0] == JOURNAL_PREFIX[0];
	return a_journal != b_journal ? a_journal - b_journal : versionsort(b, a);
}

static int move_or_remove(int from, const char *name, int to)
{
	if (to >= 0)
		return renameat(from, name, to, name) == 0 ? 0 : -errno;
	return unlinkat(from, name, 0) == 0 || errno == EISDIR ? 0 : -errno;
}

/* Moves all journals and orders to the directory `to`; to = -1: removes them. Orders come before
 * journals, newer files before older ones: if the process or the machine dies during a removal, the
 * journal still has all epochs whose orders remain. An order whose epoch the journal lacks would
 * contradict the epochs that begin later. */
static int move_or_remove_all(int directory, int to)
{
	struct dirent **entries = NULL;
	int n = scandirat(directory, ".", &entries, is_ours, compare_files);
	int err = n < 0 ? -errno : 0;
	for (int i = 0; i < n; i++) {
		if (!err)
			err = move_or_remove(directory, entries[i]->d_name, to);
		free(entries[i]);
	}
	free(entries);
	return err;
}

static int open_directory(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Removes the journals and orders of a directory, and then the directory. Returns 0 also if the
 * directory does not exist. -ENOTEMPTY: other files are left in it. */
static int remove_directory(int parent, const char *name)
{
	auto_close int fd = open_directory(parent, name);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	int err = move_or_remove_all(fd, -1);
	if (!err && unlinkat(parent, name, AT_REMOVEDIR) != 0)
		err = -errno;
	return err;
}

static int rename_directory(int parent, const char *from, const char *to)
{
	return renameat(parent, from, parent, to) == 0 || errno == ENOENT ? 0 : -errno;
}

static int sync_directory(int fd)
{
	return fsync(fd) == 0 || errno == EINVAL ? 0 : -errno;
}

static int undo(int directory)
{
	auto_close int beside = open_directory(directory, "before.new");
	int err = 0;
	if (beside >= 0)
		err = move_or_remove_all(beside, directory);
	else if (beside != -ENOENT)
		return beside;
	if (!err && beside >= 0)
		err = sync_directory(directory);
	if (!err && beside >= 0)
		err = remove_directory(directory, "before.new");
	if (!err && faccessat(directory, "before", F_OK, 0) != 0)
		err = rename_directory(directory, "before.old", "before");
	if (!err)
		err = remove_directory(directory, "before.old");
	return err;
}

static int cant(const char *directory, int err)
{
	if (err)
		log_error("%s: its files can't be moved to before/: %s", directory,
			strerror(-err));
	return err;
}

int journal_undo_aside(const char *directory)
{
	auto_close int fd = open_directory(AT_FDCWD, directory);
	return cant(directory, fd < 0 ? fd : undo(fd));
}

static int set_aside(int directory)
{
	int err = undo(directory);
	if (!err && mkdirat(directory, "before.new", 0755) != 0)
		err = -errno;
	if (!err)
		err = sync_directory(directory);
	if (err)
		return err;
	auto_close int beside = open_directory(directory, "before.new");
	if (beside < 0)
		return beside;
	err = move_or_remove_all(directory, beside);
	if (!err)
		err = sync_directory(beside);
	if (!err)
		err = rename_directory(directory, "before", "before.old");
	if (!err)
		err = rename_directory(directory, "before.new", "before");
	if (!err)
		err = sync_directory(directory);
	return err ? err : remove_directory(directory, "before.old");
}

int journal_set_aside(const char *directory)
{
	auto_close int fd = open_directory(AT_FDCWD, directory);
	return cant(directory, fd < 0 ? fd : set_aside(fd));
}

int journal_remove_all(int directory)
{
	static const char *const names[] = {"before", "before.new", "before.old"};
	int err = move_or_remove_all(directory, -1);
	for (size_t i = 0; !err && i < sizeof(names) / sizeof(*names); i++) {
		err = remove_directory(directory, names[i]);
		if (err == -ENOTDIR || err == -ELOOP || err == -ENOTEMPTY)
			err = 0;
	}
	return err;
}
