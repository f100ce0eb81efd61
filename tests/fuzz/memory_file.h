// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/ensure.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file in memory with a path, for functions that take a path. */
struct memory_file {
	int fd;
	char path[32];
};

static inline void memory_file_open(
	struct memory_file *file, const uint8_t *data, size_t size)
{
	file->fd = memfd_create("fuzz", MFD_CLOEXEC);
	ensure(file->fd >= 0 && write(file->fd, data, size) == (ssize_t)size);
	snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->fd);
}

static inline void memory_file_close(struct memory_file *file)
{
	close(file->fd);
}
