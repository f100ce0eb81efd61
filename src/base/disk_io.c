// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/disk_io.h"
#include "base/fault.h"

#include <errno.h>
#include <unistd.h>

static ssize_t write_some(
	int fd, const void *bytes, size_t n, uint64_t offset, const char *place)
{
	int err = fault_hit(place);
	if (err) {
		errno = -err;
		return -1;
	}
	return pwrite(fd, bytes, n, (off_t)offset);
}

int disk_write(int fd, const void *bytes, size_t n, uint64_t offset, const char *place,
	size_t *ret_done)
{
	const uint8_t *from = bytes;
	size_t done = 0;
	int err = 0;
	while (done < n && !err) {
		ssize_t written =
			write_some(fd, from + done, n - done, offset + done, place);
		if (written > 0)
			done += (size_t)written;
		else if (written == 0)
			/* does not happen to files, but would make the loop endless */
			err = -EIO;
		else if (errno != EINTR)
			err = -errno;
	}
	*ret_done = done;
	return err;
}

int disk_read(int fd, void *bytes, size_t n, uint64_t offset, size_t *ret_n)
{
	uint8_t *to = bytes;
	size_t done = 0;
	*ret_n = 0;
	while (done < n) {
		ssize_t got = pread(fd, to + done, n - done, (off_t)(offset + done));
		if (got == 0)
			break;
		if (got > 0)
			done += (size_t)got;
		else if (errno != EINTR)
			return -errno;
	}
	*ret_n = done;
	return 0;
}
