// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * Linked with the daemon. Each call for memory, for a file or with an answer to the kernel is a
 * site. The n-th site from now on fails, or the process is killed there. The test writes n to a
 * file that is mapped here (JOADERFS_SITES, tests/fs/sites.py).
 */

#include "../wrapped_files.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <dirent.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { NONE, MEMORY, FILES, REPLY };

#define CRASH (-1) /* replaces an errno: the process is killed */

static struct control {
	_Atomic int64_t kind;
	_Atomic int64_t error;
	_Atomic int64_t left; /* sites until the one that fails */
	_Atomic int64_t failed;
} * control;

static bool fails(enum kind kind)
{
	if (!control || atomic_load(&control->kind) != kind ||
		atomic_fetch_sub(&control->left, 1) != 1)
		return false;
	int64_t error = atomic_load(&control->error);
	atomic_store(&control->kind, NONE);
	atomic_store(&control->failed, 1);
	if (error == CRASH)
		(void)kill(getpid(), SIGKILL);
	errno = (int)error;
	return true;
}

#define WRAP(type, name, ...)                                                            \
	type __real_##name(__VA_ARGS__);                                                 \
	type __wrap_##name(__VA_ARGS__);                                                 \
	type __wrap_##name(__VA_ARGS__)

/* --- memory --------------------------------------------------------------------------- */

WRAP(void *, malloc, size_t n)
{
	return fails(MEMORY) ? NULL : __real_malloc(n);
}

WRAP(void *, calloc, size_t n, size_t size)
{
	return fails(MEMORY) ? NULL : __real_calloc(n, size);
}

WRAP(void *, realloc, void *old, size_t n)
{
	return fails(MEMORY) ? NULL : __real_realloc(old, n);
}

WRAP(void *, reallocarray, void *old, size_t n, size_t size)
{
	return fails(MEMORY) ? NULL : __real_reallocarray(old, n, size);
}

WRAP(void *, aligned_alloc, size_t alignment, size_t n)
{
	return fails(MEMORY) ? NULL : __real_aligned_alloc(alignment, n);
}

WRAP(char *, strdup, const char *text)
{
	return fails(MEMORY) ? NULL : __real_strdup(text);
}

WRAP(char *, strndup, const char *text, size_t n)
{
	return fails(MEMORY) ? NULL : __real_strndup(text, n);
}

int __real_vasprintf(char **ret, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
int __wrap_vasprintf(char **ret, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
int __wrap_vasprintf(char **ret, const char *format, va_list args)
{
	return fails(MEMORY) ? -1 : __real_vasprintf(ret, format, args);
}

int __wrap_asprintf(char **ret, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **ret, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = __wrap_vasprintf(ret, format, args);
	va_end(args);
	return n;
}

WRAP(FILE *, open_memstream, char **ret, size_t *ret_size)
{
	return fails(MEMORY) ? NULL : __real_open_memstream(ret, ret_size);
}

WRAP(void *, mmap, void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	return fails(MEMORY) ? MAP_FAILED
			     : __real_mmap(at, n, protection, flags, fd, offset);
}

WRAP(int, memfd_create, const char *name, unsigned flags)
{
	return fails(MEMORY) ? -1 : __real_memfd_create(name, flags);
}

/* --- files ---------------------------------------------------------------------------- */

int __wrap_openat(int at, const char *path, int flags, ...)
{
	TAKE_MODE(flags)
	return fails(FILES) ? -1 : __real_openat(at, path, flags, mode);
}

int __wrap_open(const char *path, int flags, ...)
{
	TAKE_MODE(flags)
	return fails(FILES) ? -1 : __real_open(path, flags, mode);
}

WRAP(FILE *, fopen, const char *path, const char *mode)
{
	return fails(FILES) ? NULL : __real_fopen(path, mode);
}

WRAP(FILE *, fdopen, int fd, const char *mode)
{
	return fails(FILES) ? NULL : __real_fdopen(fd, mode);
}

WRAP(DIR *, opendir, const char *path)
{
	return fails(FILES) ? NULL : __real_opendir(path);
}

WRAP(int, fstat, int fd, struct stat *ret)
{
	return fails(FILES) ? -1 : __real_fstat(fd, ret);
}

/* Tells whether the descriptor is a regular file. Reads of the kernel's device are no sites. */
static bool is_file(int fd)
{
	struct stat st;
	return __real_fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

WRAP(ssize_t, read, int fd, void *bytes, size_t n)
{
	return is_file(fd) && fails(FILES) ? -1 : __real_read(fd, bytes, n);
}

WRAP(ssize_t, pread, int fd, void *bytes, size_t n, off_t offset)
{
	return fails(FILES) ? -1 : __real_pread(fd, bytes, n, offset);
}

WRAP(ssize_t, pwrite, int fd, const void *bytes, size_t n, off_t offset)
{
	return fails(FILES) ? -1 : __real_pwrite(fd, bytes, n, offset);
}

WRAP(int, ftruncate, int fd, off_t size)
{
	return fails(FILES) ? -1 : __real_ftruncate(fd, size);
}

WRAP(int, fsync, int fd)
{
	return fails(FILES) ? -1 : __real_fsync(fd);
}

WRAP(int, fdatasync, int fd)
{
	return fails(FILES) ? -1 : __real_fdatasync(fd);
}

WRAP(int, rename, const char *from, const char *to)
{
	return fails(FILES) ? -1 : __real_rename(from, to);
}

WRAP(int, unlink, const char *path)
{
	return fails(FILES) ? -1 : __real_unlink(path);
}

WRAP(int, unlinkat, int at, const char *path, int flags)
{
	return fails(FILES) ? -1 : __real_unlinkat(at, path, flags);
}

WRAP(ssize_t, writev, int fd, const struct iovec *parts, int n)
{
	return is_file(fd) && fails(FILES) ? -1 : __real_writev(fd, parts, n);
}

/* The ioctl by which the kernel gets a file to read by itself, or loses it. */
int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	va_start(args, request);
	void *argument = va_arg(args, void *);
	va_end(args);
	return fails(FILES) ? -1 : __real_ioctl(fd, request, argument);
}

/* --- answers: ENOENT, as if the reader had interrupted the request ---------------------- */

#define ANSWER(call) (fails(REPLY) ? (fuse_reply_err(request, EINTR), -ENOENT) : (call))

WRAP(int, fuse_reply_attr, fuse_req_t request, const struct stat *st, double timeout)
{
	return ANSWER(__real_fuse_reply_attr(request, st, timeout));
}

WRAP(int, fuse_reply_buf, fuse_req_t request, const char *bytes, size_t n)
{
	return ANSWER(__real_fuse_reply_buf(request, bytes, n));
}

WRAP(int, fuse_reply_iov, fuse_req_t request, const struct iovec *parts, int n)
{
	return ANSWER(__real_fuse_reply_iov(request, parts, n));
}

WRAP(int, fuse_reply_entry, fuse_req_t request, const struct fuse_entry_param *entry)
{
	return ANSWER(__real_fuse_reply_entry(request, entry));
}

WRAP(int, fuse_reply_open, fuse_req_t request, const struct fuse_file_info *info)
{
	return ANSWER(__real_fuse_reply_open(request, info));
}

WRAP(int, fuse_reply_readlink, fuse_req_t request, const char *link)
{
	return ANSWER(__real_fuse_reply_readlink(request, link));
}

WRAP(int, fuse_reply_statfs, fuse_req_t request, const struct statvfs *st)
{
	return ANSWER(__real_fuse_reply_statfs(request, st));
}

/* --- the test's file ------------------------------------------------------------------ */

/* Tells whether the process is an engine. Calls of the supervisor do not count. */
static bool is_engine(int argc, char *const *argv)
{
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "--engine", strlen("--engine")) == 0)
			return true;
	return false;
}

static void __attribute__((constructor)) begin(int argc, char **argv)
{
	const char *path = is_engine(argc, argv) ? getenv("JOADERFS_SITES") : NULL;
	int fd = path ? __real_open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	void *at = __real_mmap(
		NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	control = at == MAP_FAILED ? NULL : at;
}
