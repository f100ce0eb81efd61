// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/secret_file.h"
#include "base/disk_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int check_mode(int fd, char *why, size_t size)
{
	struct stat st;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		snprintf(why, size, "not a regular file");
		return -EINVAL;
	}
	if (st.st_mode & S_IRWXO) {
		snprintf(why, size,
			"any user may use the file (mode %03o); allowed: no access for "
			"others, as after chmod 600",
			(unsigned)st.st_mode & 0777u);
		return -EACCES;
	}
	return 0;
}

static int read_bytes(int fd, uint8_t *bytes, size_t room, size_t *ret_n)
{
	int err = disk_read(fd, bytes, room, 0, ret_n);
	if (*ret_n > 0 && bytes[*ret_n - 1] == '\n')
		--*ret_n;
	return err;
}

int secret_file_read(const char *key, const char *path, void *ret, size_t room,
	size_t *ret_n, char message[SECRET_FILE_MESSAGE])
{
	char why[128] = "";
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int err = fd < 0 ? -errno : check_mode(fd, why, sizeof(why));
	if (!err)
		err = read_bytes(fd, ret, room, ret_n);
	if (err)
		snprintf(message, SECRET_FILE_MESSAGE, "%s: %.80s: %s", key, path,
			why[0] ? why : strerror(-err));
	return err;
}
