// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "../wrapped_files.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Records each call by which a program changes a directory tree. The linker leads the calls here
 * (--wrap; the Makefile lists them). power_failure.h derives from them the contents that a disk
 * may have after a power failure.
 *
 *   Flow: disk_record(root) -> the program writes, and disk_mark records its promises
 *         -> disk_stop.
 *   Owns: its events. Each file or directory is a node with a number; 1 is the root.
 *   Threads: any. Errors: an assertion fails.
 */

enum disk_kind {
	DISK_WRITE,
	DISK_TRUNCATE,
	DISK_SYNC,    /* the sync of a file's content */
	DISK_ENTRIES, /* names come, go or lead to other nodes, in one step */
	DISK_SYNC_DIRECTORY,
	DISK_MARK
};

struct disk_entry {
	uint32_t directory;
	char name[64];
	uint32_t node; /* 0: the name leads to no node */
};

struct disk_event {
	enum disk_kind kind;
	uint32_t node;
	uint64_t offset; /* of DISK_TRUNCATE: the new size */
	size_t n;
	uint8_t *bytes;
	struct disk_entry entries[2];
	unsigned n_entries;
	size_t promised, done; /* of DISK_MARK: numbers of the program */
};

struct disk_node {
	ino_t ino; /* 0: the node has gone */
	bool directory;
	bool beside; /* the file was made as NAME.new */
	uint8_t *bytes;
	size_t size;
};

/* The recorder ignores these calls, as if the program did not make them. */
enum disk_lie {
	LIE_NONE,
	LIE_FILES_UNSYNCED,
	LIE_RENAMED_UNSYNCED, /* syncs of files that were made as NAME.new */
	LIE_DIRECTORIES_UNSYNCED
};

#define DISK_NODES 4096

static struct {
	pthread_mutex_t mutex;
	bool on;
	enum disk_lie lie;
	struct disk_node nodes[DISK_NODES]; /* state when the record begins */
	uint32_t n_nodes;
	struct disk_entry *entries; /* state when the record begins */
	size_t n_entries;
	struct disk_event *events;
	size_t n_events, room;
	size_t promised, done;
} disk = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* --- nodes and events ---------------------------------------------------------------- */

/* Returns 0 for a node outside of the tree. */
static uint32_t disk_node_of(const struct stat *st)
{
	for (uint32_t i = disk.n_nodes; i-- > 1;)
		if (disk.nodes[i].ino == st->st_ino)
			return i;
	return 0;
}

static uint32_t disk_node_of_fd(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 ? disk_node_of(&st) : 0;
}

static uint32_t disk_new_node(const struct stat *st)
{
	uint32_t old = disk_node_of(st); /* the file system has reused the inode number */
	if (old)
		disk.nodes[old].ino = 0;
	cr_assert_lt(disk.n_nodes, DISK_NODES);
	disk.nodes[disk.n_nodes] =
		(struct disk_node){.ino = st->st_ino, .directory = S_ISDIR(st->st_mode)};
	return disk.n_nodes++;
}

static struct disk_event *disk_push(enum disk_kind kind, uint32_t node)
{
	if (disk.n_events == disk.room) {
		disk.room = disk.room ? 2 * disk.room : 256;
		disk.events = reallocarray(disk.events, disk.room, sizeof(*disk.events));
		cr_assert_not_null(disk.events);
	}
	struct disk_event *event = &disk.events[disk.n_events++];
	*event = (struct disk_event){.kind = kind, .node = node};
	return event;
}

/* Returns the directory in which the path lies, and the last part of the path. 0: another tree. */
static uint32_t disk_parent(int at, const char *path, const char **ret_name)
{
	char parent[4096];
	struct stat st;
	const char *slash = strrchr(path, '/');
	*ret_name = slash ? slash + 1 : path;
	if (!slash)
		return at == AT_FDCWD ? 0 : disk_node_of_fd(at);
	snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path), path);
	return fstatat(at, parent, &st, 0) == 0 ? disk_node_of(&st) : 0;
}

static void disk_add_entry(
	struct disk_event *event, uint32_t parent, const char *name, uint32_t node)
{
	struct disk_entry *entry = &event->entries[event->n_entries++];
	*entry = (struct disk_entry){.directory = parent, .node = node};
	cr_assert_lt(strlen(name), sizeof(entry->name));
	strcpy(entry->name, name);
}

static void disk_note_entry(int at, const char *path, bool there)
{
	struct stat st;
	const char *name;
	pthread_mutex_lock(&disk.mutex);
	uint32_t parent = disk.on ? disk_parent(at, path, &name) : 0;
	if (parent) {
		uint32_t node = 0;
		if (there) {
			cr_assert_eq(0, fstatat(at, path, &st, AT_SYMLINK_NOFOLLOW));
			node = disk_new_node(&st);
			size_t n = strlen(name);
			disk.nodes[node].beside =
				n > 4 && strcmp(name + n - 4, ".new") == 0;
		}
		disk_add_entry(disk_push(DISK_ENTRIES, 0), parent, name, node);
	}
	pthread_mutex_unlock(&disk.mutex);
}

static void disk_note_rename(int from_at, const char *from, int to_at, const char *to)
{
	struct stat st;
	const char *from_name, *to_name;
	pthread_mutex_lock(&disk.mutex);
	uint32_t from_parent = disk.on ? disk_parent(from_at, from, &from_name) : 0;
	if (from_parent) {
		uint32_t to_parent = disk_parent(to_at, to, &to_name);
		cr_assert_eq(0, fstatat(to_at, to, &st, AT_SYMLINK_NOFOLLOW));
		uint32_t node = disk_node_of(&st);
		cr_assert(node && to_parent);
		struct disk_event *event = disk_push(DISK_ENTRIES, 0);
		disk_add_entry(event, from_parent, from_name, 0);
		disk_add_entry(event, to_parent, to_name, node);
	}
	pthread_mutex_unlock(&disk.mutex);
}

static void disk_note_content(
	enum disk_kind kind, int fd, const void *bytes, size_t n, uint64_t offset)
{
	pthread_mutex_lock(&disk.mutex);
	uint32_t node = disk.on ? disk_node_of_fd(fd) : 0;
	if (node) {
		struct disk_event *event = disk_push(kind, node);
		event->offset = offset;
		event->n = n;
		event->bytes = n ? malloc(n) : NULL;
		if (n)
			memcpy(event->bytes, bytes, n);
	}
	pthread_mutex_unlock(&disk.mutex);
}

static void disk_note_sync(int fd)
{
	pthread_mutex_lock(&disk.mutex);
	uint32_t node = disk.on ? disk_node_of_fd(fd) : 0;
	bool is_directory = node && disk.nodes[node].directory;
	bool lie = disk.lie == LIE_DIRECTORIES_UNSYNCED
			   ? is_directory
			   : disk.lie != LIE_NONE && !is_directory &&
				     (disk.lie == LIE_FILES_UNSYNCED ||
					     disk.nodes[node].beside);
	if (node && !lie)
		disk_push(is_directory ? DISK_SYNC_DIRECTORY : DISK_SYNC, node);
	pthread_mutex_unlock(&disk.mutex);
}

/* --- calls --------------------------------------------------------------------------- */

int __wrap_openat(int at, const char *path, int flags, ...)
{
	struct stat st;
	TAKE_MODE(flags)
	bool was = fstatat(at, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
	int fd = __real_openat(at, path, flags, mode);
	if (fd >= 0 && (flags & O_CREAT) && !was)
		disk_note_entry(at, path, true);
	else if (fd >= 0 && (flags & O_TRUNC))
		disk_note_content(DISK_TRUNCATE, fd, NULL, 0, 0);
	return fd;
}

int __wrap_open(const char *path, int flags, ...)
{
	TAKE_MODE(flags)
	return __wrap_openat(AT_FDCWD, path, flags, mode);
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
	ssize_t done = __real_pwrite(fd, bytes, n, offset);
	if (done > 0)
		disk_note_content(DISK_WRITE, fd, bytes, (size_t)done, (uint64_t)offset);
	return done;
}

int __wrap_ftruncate(int fd, off_t size)
{
	int failed = __real_ftruncate(fd, size);
	if (!failed)
		disk_note_content(DISK_TRUNCATE, fd, NULL, 0, (uint64_t)size);
	return failed;
}

/* A test has no files that must last. */
int __wrap_fsync(int fd)
{
	disk_note_sync(fd);
	return 0;
}

int __wrap_fdatasync(int fd)
{
	disk_note_sync(fd);
	return 0;
}

int __wrap_renameat(int from_at, const char *from, int to_at, const char *to)
{
	int failed = __real_renameat(from_at, from, to_at, to);
	if (!failed)
		disk_note_rename(from_at, from, to_at, to);
	return failed;
}

int __wrap_rename(const char *from, const char *to)
{
	return __wrap_renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int __wrap_unlinkat(int at, const char *path, int flags)
{
	int failed = __real_unlinkat(at, path, flags);
	if (!failed)
		disk_note_entry(at, path, false);
	return failed;
}

int __wrap_unlink(const char *path)
{
	return __wrap_unlinkat(AT_FDCWD, path, 0);
}

int __wrap_rmdir(const char *path)
{
	return __wrap_unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int __wrap_mkdirat(int at, const char *path, mode_t mode)
{
	int failed = __real_mkdirat(at, path, mode);
	if (!failed)
		disk_note_entry(at, path, true);
	return failed;
}

int __wrap_mkdir(const char *path, mode_t mode)
{
	return __wrap_mkdirat(AT_FDCWD, path, mode);
}

/* --- a record ------------------------------------------------------------------------ */

static inline void disk_read_content(struct disk_node *node, int at, const char *name)
{
	struct stat st;
	int fd = __real_openat(at, name, O_RDONLY);
	cr_assert(fd >= 0 && fstat(fd, &st) == 0);
	node->size = (size_t)st.st_size;
	node->bytes = malloc(node->size + 1);
	cr_assert_eq((ssize_t)node->size, pread(fd, node->bytes, node->size, 0));
	close(fd);
}

/* Reads the tree. All of it counts as written to the disk. */
static inline void disk_read_tree(uint32_t parent, const char *path)
{
	DIR *dir = opendir(path);
	cr_assert_not_null(dir);
	for (const struct dirent *entry; (entry = readdir(dir));) {
		char below[4096];
		struct stat st;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		cr_assert_eq(0, fstatat(dirfd(dir), entry->d_name, &st, 0));
		uint32_t node = disk_new_node(&st);
		disk.entries = reallocarray(
			disk.entries, disk.n_entries + 1, sizeof(*disk.entries));
		struct disk_entry *to = &disk.entries[disk.n_entries++];
		*to = (struct disk_entry){.directory = parent, .node = node};
		snprintf(to->name, sizeof(to->name), "%.63s", entry->d_name);
		snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
		if (S_ISDIR(st.st_mode))
			disk_read_tree(node, below);
		else
			disk_read_content(&disk.nodes[node], dirfd(dir), entry->d_name);
	}
	closedir(dir);
}

static inline void disk_forget(void)
{
	for (size_t i = 0; i < disk.n_events; i++)
		free(disk.events[i].bytes);
	for (uint32_t i = 0; i < disk.n_nodes; i++)
		free(disk.nodes[i].bytes);
	free(disk.entries);
	free(disk.events);
	disk.entries = NULL;
	disk.events = NULL;
	disk.n_entries = disk.n_events = disk.room = disk.n_nodes = 0;
	disk.promised = disk.done = 0;
}

static inline void disk_record(const char *root, enum disk_lie lie)
{
	struct stat st;
	disk_forget();
	disk.n_nodes = 1;
	cr_assert_eq(0, stat(root, &st));
	disk_new_node(&st);
	disk_read_tree(1, root);
	disk.lie = lie;
	disk.on = true;
}

static inline void disk_stop(void)
{
	pthread_mutex_lock(&disk.mutex);
	disk.on = false;
	pthread_mutex_unlock(&disk.mutex);
}

/* Records how much must last, and how much has been done. */
static inline void disk_mark(size_t promised, size_t done)
{
	pthread_mutex_lock(&disk.mutex);
	disk.promised = promised;
	disk.done = done;
	struct disk_event *event = disk_push(DISK_MARK, 0);
	event->promised = promised;
	event->done = done;
	pthread_mutex_unlock(&disk.mutex);
}
