// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>

/* Calls of files that a test takes the place of, by the linker's --wrap. */

#define WRAPPED(type, name, ...)                                                         \
	type __real_##name(__VA_ARGS__);                                                 \
	type __wrap_##name(__VA_ARGS__)

WRAPPED(int, open, const char *path, int flags, ...);
WRAPPED(int, openat, int at, const char *path, int flags, ...);
WRAPPED(ssize_t, pread, int fd, void *bytes, size_t n, off_t offset);
WRAPPED(ssize_t, pwrite, int fd, const void *bytes, size_t n, off_t offset);
WRAPPED(int, ftruncate, int fd, off_t size);
WRAPPED(int, fsync, int fd);
WRAPPED(int, fdatasync, int fd);
WRAPPED(int, rename, const char *from, const char *to);
WRAPPED(int, renameat, int from_at, const char *from, int to_at, const char *to);
WRAPPED(int, unlink, const char *path);
WRAPPED(int, unlinkat, int at, const char *path, int flags);
WRAPPED(int, rmdir, const char *path);
WRAPPED(int, mkdir, const char *path, mode_t mode);
WRAPPED(int, mkdirat, int at, const char *path, mode_t mode);

/* Declares `mode`, the last argument of an open with these flags. */
#define TAKE_MODE(flags)                                                                 \
	mode_t mode = 0;                                                                 \
	if ((flags)&O_CREAT) {                                                           \
		va_list args;                                                            \
		va_start(args, flags);                                                   \
		mode = va_arg(args, mode_t);                                             \
		va_end(args);                                                            \
	}
