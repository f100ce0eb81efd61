// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/lock_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOCK_TRIES 100
#define LOCK_PAUSE_NS 20000000

/* Sets mode 0600, because each process that can open the file could hold its lock. */
int lock_file_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && fchmod(fd, 0600) == 0)
		return fd;
	int err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

/* Tries for two seconds, because the engine of a killed supervisor may still hold the lock for a
 * while. */
int lock_file_take(int fd)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
	for (int tries = LOCK_TRIES; flock(fd, LOCK_EX | LOCK_NB) != 0; tries--) {
		if (errno != EWOULDBLOCK || tries == 1)
			return -errno;
		nanosleep(&pause, NULL);
	}
	return 0;
}
