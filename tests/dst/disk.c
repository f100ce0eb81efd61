// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../wrapped_files.h"
#include "disk.h"
#include "base/ensure.h"
#include "coroutines.h"
#include "sites.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

static bool dead;
static unsigned calls_left; /* calls until the machine dies; 0: it does not */

void disk_die(void)
{
	dead = true;
	calls_left = 0;
}

void disk_die_in(unsigned calls)
{
	calls_left = calls;
}

void disk_live(void)
{
	dead = false;
}

bool disk_is_dead(void)
{
	return dead;
}

struct dirent *__real_readdir(DIR *dir);
int __real_closedir(DIR *dir);
struct dirent *__wrap_readdir(DIR *dir);
int __wrap_closedir(DIR *dir);

/* Counts the call, and lets other coroutines run. Returns true if the call has no effect, because
 * the machine is dead. */
static bool is_lost(void)
{
	if (co_is_running() && co_one_in(4))
		co_sleep(co_random(2000000));
	else
		co_pause();
	if (calls_left > 0 && --calls_left == 0)
		dead = true;
	return dead;
}

/* Tells whether a read fails. Only EIO is possible: a full disk can still be read. */
static bool cant_read(void)
{
	bool fails = site_fails(SITE_FILE);
	if (fails)
		errno = EIO;
	return fails;
}

static int open_real(int at, const char *path, int flags, mode_t mode)
{
	bool lost = is_lost();
	if (flags & O_CREAT ? site_fails(SITE_FILE) : cant_read())
		return -1;
	if (lost && (flags & O_CREAT))
		return __real_open("/dev/null", O_RDWR | O_CLOEXEC);
	return __real_openat(at, path, flags, mode);
}

int __wrap_openat(int at, const char *path, int flags, ...)
{
	TAKE_MODE(flags)
	return open_real(at, path, flags, mode);
}

int __wrap_open(const char *path, int flags, ...)
{
	TAKE_MODE(flags)
	return open_real(AT_FDCWD, path, flags, mode);
}

ssize_t __wrap_pread(int fd, void *bytes, size_t n, off_t offset)
{
	return cant_read() ? -1 : __real_pread(fd, bytes, n, offset);
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
	bool lost = is_lost();
	if (site_fails(SITE_FILE))
		return -1;
	if (lost)
		return (ssize_t)n;
	if (co_is_running() && n > 1 && co_one_in(8))
		n = 1 + co_random((uint32_t)n - 1);
	return __real_pwrite(fd, bytes, n, offset);
}

int __wrap_fsync(int fd)
{
	(void)fd;
	(void)is_lost();
	return site_fails(SITE_FILE) ? -1 : 0;
}

int __wrap_fdatasync(int fd)
{
	return __wrap_fsync(fd);
}

/* The result of a call that changes names or the size of a file. */
#define CHANGE(call) (is_lost() ? 0 : site_fails(SITE_FILE) ? -1 : (call))

int __wrap_ftruncate(int fd, off_t size)
{
	return CHANGE(__real_ftruncate(fd, size));
}

int __wrap_renameat(int from_at, const char *from, int to_at, const char *to)
{
	return CHANGE(__real_renameat(from_at, from, to_at, to));
}

int __wrap_rename(const char *from, const char *to)
{
	return CHANGE(__real_rename(from, to));
}

int __wrap_unlinkat(int at, const char *path, int flags)
{
	return CHANGE(__real_unlinkat(at, path, flags));
}

int __wrap_unlink(const char *path)
{
	return CHANGE(__real_unlink(path));
}

int __wrap_rmdir(const char *path)
{
	return CHANGE(__real_rmdir(path));
}

int __wrap_mkdirat(int at, const char *path, mode_t mode)
{
	return CHANGE(__real_mkdirat(at, path, mode));
}

int __wrap_mkdir(const char *path, mode_t mode)
{
	return CHANGE(__real_mkdir(path, mode));
}

/* --- directories, in an order of their own ---------------------------------------------- */

#define ENTRIES 64
#define DIRECTORIES 8

static struct listing {
	DIR *dir;
	struct dirent entries[ENTRIES];
	uint32_t n;
} listings[DIRECTORIES];

static struct listing *find_listing(const DIR *dir)
{
	for (int i = 0; i < DIRECTORIES; i++)
		if (listings[i].dir == dir)
			return &listings[i];
	return NULL;
}

/* Reads the directory when its first entry is requested. */
static struct listing *read_listing(DIR *dir)
{
	struct listing *listing = find_listing(NULL);
	const struct dirent *entry;
	ensure(listing);
	listing->dir = dir;
	for (listing->n = 0; (entry = __real_readdir(dir)); listing->n++) {
		ensure(listing->n < ENTRIES);
		listing->entries[listing->n] = *entry;
	}
	return listing;
}

struct dirent *__wrap_readdir(DIR *dir)
{
	if (!co_is_running())
		return __real_readdir(dir);
	struct listing *listing = find_listing(dir);
	if (!listing)
		listing = read_listing(dir);
	if (listing->n == 0)
		return NULL;
	uint32_t i = co_random(listing->n--);
	struct dirent entry = listing->entries[i];
	listing->entries[i] = listing->entries[listing->n];
	listing->entries[listing->n] = entry;
	return &listing->entries[listing->n];
}

int __wrap_closedir(DIR *dir)
{
	struct listing *listing = find_listing(dir);
	if (listing)
		listing->dir = NULL;
	return __real_closedir(dir);
}
