// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/read_ahead.h"
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int read_ahead_raise(const char *where)
{
	char path[64], text[32];
	struct statx st;
	if (statx(AT_FDCWD, where, AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, 0, &st) != 0)
		return -errno;
	snprintf(path, sizeof(path), "/sys/class/bdi/%u:%u/read_ahead_kb",
		st.stx_dev_major, st.stx_dev_minor);
	auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int n = snprintf(text, sizeof(text), "%zu\n", READ_AHEAD / 1024);
	return write(fd, text, (size_t)n) == n ? 0 : -errno;
}
