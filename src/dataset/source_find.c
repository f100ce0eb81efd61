// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/log.h"
#include "dataset/source.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* Finds containers: one file, the files of a directory, or the files of a pattern such
 * as shard-{000000..000146}.tar. */

#define MOST_CONTAINERS 1000000

/* Adds a container. If it can't be read, its path becomes scan->missing, for the
 * message. */
static int add_container(struct scan *scan, const char *name)
{
	struct container *containers = array_grow(scan->containers, scan->n_containers,
		&scan->containers_capacity, sizeof(*containers));
	char path[PATH_MAX];
	struct stat st;
	if (!containers)
		return -ENOMEM;
	scan->containers = containers;
	int n = snprintf(path, sizeof(path), "%s/%s", scan->beside, name);
	int err = (size_t)n >= sizeof(path) ? -ENAMETOOLONG : 0;
	if (!err && stat(path, &st) < 0)
		err = -errno;
	if (!err && !S_ISREG(st.st_mode))
		err = -EINVAL;
	char *copy = arena_text(&scan->names, err ? path : name);
	if (!copy)
		return -ENOMEM;
	if (err) {
		scan->missing = copy;
		return err;
	}
	containers[scan->n_containers++] = (struct container){.name = copy,
		.bytes = (uint64_t)st.st_size,
		.mtime_ns = timespec_ns(st.st_mtim)};
	return 0;
}

/* Sets scan->beside to the directory of the root, and *ret_name to the root's last
 * component. */
static int split_path(struct scan *scan, const char **ret_name)
{
	const char *slash = strrchr(scan->root, '/');
	*ret_name = slash ? slash + 1 : scan->root;
	free(scan->beside);
	scan->beside =
		slash ? strndup(scan->root, (size_t)(slash - scan->root)) : strdup(".");
	return scan->beside ? 0 : -ENOMEM;
}

int containers_find_file(struct scan *scan)
{
	const char *name;
	int err = split_path(scan, &name);
	return err ? err : add_container(scan, name);
}

static int compare_containers(const void *a, const void *b)
{
	return strcmp(
		((const struct container *)a)->name, ((const struct container *)b)->name);
}

void containers_sort(struct scan *scan)
{
	if (scan->n_containers)
		qsort(scan->containers, scan->n_containers, sizeof(*scan->containers),
			compare_containers);
}

int containers_find_beside(struct scan *scan, const char *name)
{
	free(scan->beside);
	scan->beside = strdup(scan->root);
	return scan->beside ? add_container(scan, name) : -ENOMEM;
}

int containers_find_directory(struct scan *scan, bool (*wanted)(const char *name))
{
	const struct dirent *dirent;
	int err = 0;
	free(scan->beside);
	scan->beside = strdup(scan->root);
	scan->sharded = true;
	if (!scan->beside)
		return -ENOMEM;
	DIR *stream = opendir(scan->root[0] ? scan->root : "/");
	if (!stream)
		return -errno;
	errno = 0;
	while (!err && (dirent = readdir(stream)))
		if (dirent->d_name[0] != '.' && wanted(dirent->d_name))
			err = add_container(scan, dirent->d_name);
	if (!err && errno)
		err = -errno;
	closedir(stream);
	containers_sort(scan);
	return err;
}

/* --- patterns --------------------------------------------------------------------------- */

static bool read_number(const char **at, uint64_t *ret, int *ret_digits)
{
	const char *begin = *at;
	*ret = 0;
	for (; isdigit((unsigned char)**at) && *at - begin < 18; ++*at)
		*ret = *ret * 10 + (uint64_t)(**at - '0');
	*ret_digits = (int)(*at - begin);
	return *at > begin;
}

bool name_range_read(const char *text, struct name_range *ret)
{
	int digits;
	const char *at = strchr(text, '{');
	if (!at)
		return false;
	ret->begin = at++;
	if (!read_number(&at, &ret->first, &ret->digits) || strncmp(at, "..", 2) != 0)
		return false;
	at += 2;
	if (!read_number(&at, &ret->last, &digits) || *at != '}')
		return false;
	ret->end = at + 1;
	return ret->first <= ret->last && ret->last - ret->first < MOST_CONTAINERS &&
	       !strpbrk(ret->end, "{}");
}

int name_range_print(const char *name, const struct name_range *range, uint64_t i,
	char *ret, size_t size)
{
	int n = snprintf(ret, size, "%.*s%0*" PRIu64 "%s", (int)(range->begin - name),
		name, range->digits, i, range->end);
	return (size_t)n < size ? 0 : -ENAMETOOLONG;
}

int containers_find_pattern(struct scan *scan)
{
	const char *name;
	struct name_range range;
	int err = split_path(scan, &name);
	scan->sharded = true;
	if (err)
		return err;
	if (!name_range_read(name, &range)) {
		log_error("dataset %s: path %s: found \"%s\", allowed: one range in the "
			  "name of the file, as shard-{000000..000146}.tar",
			scan->name, scan->root, name);
		return -EINVAL;
	}
	for (uint64_t i = range.first; !err && i <= range.last; i++) {
		char shard[NAME_MAX + 1];
		err = name_range_print(name, &range, i, shard, sizeof(shard));
		if (!err)
			err = add_container(scan, shard);
	}
	containers_sort(scan);
	return err;
}

/* --- names ------------------------------------------------------------------------------- */

bool source_name_ends(const char *path, const char *ending)
{
	size_t n = strlen(path), bytes = strlen(ending);
	while (n > 0 && path[n - 1] == '/')
		n--;
	return n > bytes && strncasecmp(path + n - bytes, ending, bytes) == 0;
}

bool source_is_tar_name(const char *name)
{
	static const char *const endings[] = {
		".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".tar.bz2", ".tar.lz4"};
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (source_name_ends(name, endings[i]))
			return true;
	return false;
}
