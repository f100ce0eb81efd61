// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/own_mounts.h"
#include "base/array_grow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static const char *mount_point; /* NULL: none */
static struct looked below; /* the directory that the mount covers; inode 0: not known */

static int look(
	int directory, const char *path, int flags, struct looked *ret, bool *ret_root)
{
	struct statx st = {0};
	flags |= AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
	/* Another user's FUSE mount refuses type and inode, so the second statx asks for
	 * neither. */
	if (statx(directory, path, flags, STATX_TYPE | STATX_INO, &st) != 0 &&
		(errno != EACCES || statx(directory, path, flags, 0, &st) != 0))
		return -errno;
	*ret = (struct looked){.mode = st.stx_mode,
		.device = makedev(st.stx_dev_major, st.stx_dev_minor),
		.inode = st.stx_ino};
	*ret_root = (st.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
	return 0;
}

int looked_at(int directory, const char *path, int flags, struct looked *ret)
{
	bool root;
	return look(directory, path, flags, ret, &root);
}

void own_mounts_begin(const char *mountpoint)
{
	bool root;
	mount_point = mountpoint;
	if (look(AT_FDCWD, mountpoint, 0, &below, &root) != 0)
		below.inode = 0;
}

bool own_mounts_cover(const char *path)
{
	auto_free char *real = realpath(path, NULL);
	size_t n = mount_point ? strlen(mount_point) : 0;
	return real && n > 0 && strncmp(real, mount_point, n) == 0 &&
	       (real[n] == '/' || real[n] == '\0');
}

static int add(struct own_mounts *mounts, dev_t device)
{
	if (!array_make_room(mounts->devices, mounts->n, &mounts->capacity))
		return -ENOMEM;
	mounts->devices[mounts->n++] = device;
	return 0;
}

/* Tells whether a line of mountinfo, "36 35 98:0 / /mnt rw - TYPE SOURCE OPTIONS", is a mount of
 * joaderfs. Mount options may change TYPE or SOURCE, so one of the two is enough. */
static bool is_joaderfs(const char *line, dev_t *ret_device)
{
	static const char separator[] = " - ", type[] = "fuse.joaderfs ";
	unsigned major, minor;
	const char *rest = strstr(line, separator);
	if (!rest || sscanf(line, "%*s %*s %u:%u", &major, &minor) != 2)
		return false;
	rest += strlen(separator);
	const char *source = strchr(rest, ' ');
	*ret_device = makedev(major, minor);
	return strncmp(rest, type, strlen(type)) == 0 ||
	       (strncmp(rest, "fuse", strlen("fuse")) == 0 && source &&
		       strncmp(source, " joaderfs ", strlen(" joaderfs ")) == 0);
}

static int read_table(struct own_mounts *ret)
{
	auto_fclose FILE *table = fopen("/proc/self/mountinfo", "re");
	auto_free char *line = NULL;
	size_t size = 0;
	dev_t device;
	int err = 0;
	if (!table)
		return -errno;
	while (!err && getline(&line, &size, table) > 0)
		if (is_joaderfs(line, &device))
			err = add(ret, device);
	return !err && ferror(table) ? -EIO : err;
}

int own_mounts_read(struct own_mounts *ret)
{
	struct looked point;
	bool root;
	*ret = (struct own_mounts){0};
	int err = read_table(ret);
	if (err || !mount_point || look(AT_FDCWD, mount_point, 0, &point, &root) != 0 ||
		!root)
		return err;
	ret->point = point;
	return add(ret, point.device);
}

void own_mounts_free(struct own_mounts *mounts)
{
	free(mounts->devices);
	*mounts = (struct own_mounts){0};
}

bool own_mounts_have(const struct own_mounts *mounts, dev_t device)
{
	for (size_t i = 0; i < mounts->n; i++)
		if (mounts->devices[i] == device)
			return true;
	return false;
}

static bool same(const struct looked *a, const struct looked *b)
{
	return a->inode && a->inode == b->inode && a->device == b->device;
}

bool own_mounts_is_point(const struct own_mounts *mounts, const struct looked *looked)
{
	return same(&mounts->point, looked) || same(&below, looked);
}
