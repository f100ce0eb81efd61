// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "load/open_beneath.h"
#include "base/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

/* Returns the part of `path` after `root`, or NULL if the path is not below the root. */
static const char *behind(const char *root, const char *path)
{
	size_t n = strlen(root);
	while (n > 0 && root[n - 1] == '/')
		n--;
	if (strncmp(path, root, n) != 0 || path[n] != '/')
		return NULL;
	return path + n + strspn(path + n, "/");
}

static int open_root(const char *root)
{
	int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int openat2_beneath(int root, const char *relative, int flags)
{
	struct open_how how = {.flags = (uint64_t)flags,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	int err = fault_hit("load.openat2");
	if (err)
		return err;
	long fd = syscall(SYS_openat2, root, relative, &how, sizeof(how));
	return fd < 0 ? -errno : (int)fd;
}

/* Returns -EXDEV if the error means that a component is a link: openat with O_NOFOLLOW then fails
 * with ELOOP or ENOTDIR. Returns other errors unchanged. */
static int no_link(int err)
{
	return err == -ELOOP || err == -ENOTDIR ? -EXDEV : err;
}

/* Opens the components of `relative` one by one, without links. Closes `directory`. */
static int walk(int directory, char *relative, int flags)
{
	char *slash;
	while ((slash = strchr(relative, '/'))) {
		*slash = '\0';
		int next = openat(directory, relative,
			O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		int err = next < 0 ? -errno : 0;
		close(directory);
		if (err)
			return no_link(err);
		directory = next;
		relative = slash + 1;
	}
	int fd = openat(directory, relative, flags | O_NOFOLLOW);
	int err = fd < 0 ? -errno : 0;
	close(directory);
	return err ? no_link(err) : fd;
}

/* Resolves all links by realpath, then opens the resulting path, and fails if a component has
 * become a link. Allows absolute links that stay in the tree, which openat2 refuses. */
static int open_resolved(const char *root, const char *path, int flags)
{
	auto_free char *real_root = realpath(root, NULL);
	auto_free char *real = real_root ? realpath(path, NULL) : NULL;
	if (!real)
		return -errno;
	const char *relative = behind(real_root, real);
	if (!relative)
		return -EXDEV;
	int directory = open_root(real_root);
	if (directory < 0)
		return directory;
	return walk(directory, real + (relative - real), flags);
}

int open_beneath(const char *root, const char *path, int flags)
{
	const char *relative = behind(root, path);
	if (!relative)
		return -EXDEV;
	auto_close int directory = open_root(root);
	if (directory < 0)
		return directory;
	int fd = openat2_beneath(directory, relative, flags);
	/* EXDEV: openat2 also refuses absolute links that stay in the tree. ENOSYS: an old kernel.
	 * EPERM: a container forbids openat2. EAGAIN: a file was renamed during the call. */
	if (fd == -EXDEV || fd == -ENOSYS || fd == -EPERM || fd == -EAGAIN)
		return open_resolved(root, path, flags);
	return fd;
}
