// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/disk.h"
#include "base/aprintf.h"
#include "base/array_grow.h"
#include "base/compare.h"
#include "base/fault.h"
#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

int disk_cant(const char *path, const char *what, int err)
{
	log_error("%s: can't be %s: %s", path, what, strerror(-err));
	return err;
}

FILE *disk_fopen(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	if (!in && fd >= 0)
		close(fd);
	return in;
}

int disk_sync(int fd, const char *place)
{
	int err = fault_hit(place);
	while (!err && fdatasync(fd) != 0)
		if (errno != EINTR)
			err = -errno;
	return err;
}

int disk_sync_directory(const char *directory, const char *place)
{
	auto_close int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int err = fault_hit(place);
	/* Some file systems can't sync directories. */
	if (!err && fsync(fd) != 0 && errno != EINVAL)
		err = -errno;
	return err;
}

/* Tells whether `name` is <prefix>NNNN<suffix>, and stores the number in *ret. NNNN must have four
 * digits, or more without a leading 0, as joaderfs writes numbers. */
static bool parse_name(
	const char *name, const char *prefix, const char *suffix, uint32_t *ret)
{
	char digits[16];
	size_t n = strlen(prefix);
	if (strncmp(name, prefix, n) != 0)
		return false;
	size_t n_digits = strspn(name + n, "0123456789");
	if (n_digits == 0 || n_digits > 10 || strcmp(name + n + n_digits, suffix) != 0)
		return false;
	unsigned long long number = strtoull(name + n, NULL, 10);
	if (number >= UINT32_MAX)
		return false;
	*ret = (uint32_t)number;
	int length = snprintf(digits, sizeof(digits), "%04u", *ret);
	return (size_t)length == n_digits && memcmp(digits, name + n, n_digits) == 0;
}

int disk_list(const char *directory, const char *prefix, const char *suffix,
	uint32_t **ret, size_t *ret_n)
{
	uint32_t *numbers = NULL, number;
	size_t n = 0, capacity = 0;
	int err = 0;
	*ret = NULL;
	*ret_n = 0;
	DIR *dir = opendir(directory);
	if (!dir)
		return -errno;
	for (;;) {
		errno = 0;
		const struct dirent *entry = readdir(dir);
		if (!entry) {
			err = -errno;
			break;
		}
		if (!parse_name(entry->d_name, prefix, suffix, &number))
			continue;
		if (!array_make_room(numbers, n, &capacity)) {
			err = -ENOMEM;
			break;
		}
		numbers[n++] = number;
	}
	closedir(dir);
	if (err) {
		free(numbers);
		return err;
	}
	if (n > 1)
		qsort(numbers, n, sizeof(*numbers), compare_u32);
	*ret = numbers;
	*ret_n = n;
	return 0;
}

static int write_file(const char *path, const void *bytes, size_t n, mode_t mode)
{
	size_t done;
	int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
	auto_close int fd = open(path, flags, mode);
	if (fd < 0)
		return -errno;
	int err = disk_write(fd, bytes, n, 0, "state.write", &done);
	return err ? err : disk_sync(fd, "state.write");
}

int disk_replace(const char *directory, const char *name, const char *text, mode_t mode)
{
	return disk_replace_bytes(directory, name, text, strlen(text), mode);
}

int disk_replace_bytes(
	const char *directory, const char *name, const void *bytes, size_t n, mode_t mode)
{
	auto_free char *path = aprintf("%s/%s", directory, name);
	auto_free char *beside = aprintf("%s/%s.new", directory, name);
	if (!path || !beside)
		return -ENOMEM;
	int err = write_file(beside, bytes, n, mode);
	if (!err && rename(beside, path) != 0)
		err = -errno;
	if (err)
		unlink(beside);
	return err ? err : disk_sync_directory(directory, "state.write");
}
