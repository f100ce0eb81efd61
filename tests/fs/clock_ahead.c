// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/*
 * Loaded into a program by LD_PRELOAD: its gettimeofday is ahead by the number of seconds in the
 * file $CLOCK_AHEAD, which may change.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static long ahead(void)
{
	char text[32] = "";
	const char *path = getenv("CLOCK_AHEAD");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return 0;
	ssize_t n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 ? strtol(text, NULL, 10) : 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	int err = (int)syscall(SYS_gettimeofday, time, zone);
	if (err == 0)
		time->tv_sec += ahead();
	return err;
}
