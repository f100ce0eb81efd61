// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/compare.h"
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

/* Finds local containers: a single file, the files of a directory, or the files of a pattern such
 * as shard-{000..146}.tar. */

#define MOST_CONTAINERS 1000000

int containers_add(struct scan *scan, const char *name, uint64_t bytes, int64_t mtime_ns)
{
	char *copy = arena_text(&scan->names, name);
	if (!copy || !array_make_room(scan->containers, scan->n_containers,
			     &scan->containers_capacity))
		return -ENOMEM;
	scan->containers[scan->n_containers++] =
		(struct container){.name = copy, .bytes = bytes, .mtime_ns = mtime_ns};
	return 0;
}

int containers_add_file(struct scan *scan, const char *name)
{
	char path[PATH_MAX];
	struct stat st;
	int err = scan_beside(scan->beside, name, path, sizeof(path));
	if (!err && stat(path, &st) < 0)
		err = -errno;
	if (!err && !S_ISREG(st.st_mode))
		err = -EINVAL;
	if (!err)
		return containers_add(
			scan, name, (uint64_t)st.st_size, timespec_ns(st.st_mtim));
	scan->missing = arena_text(&scan->names, path);
	return scan->missing ? err : -ENOMEM;
}

/* Divides scan->root into its directory, scan->beside, and its last component, *ret_name. */
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
	return err ? err : containers_add_file(scan, name);
}

void containers_sort(struct scan *scan)
{
	if (scan->n_containers)
		qsort(scan->containers, scan->n_containers, sizeof(*scan->containers),
			compare_texts);
}

int containers_find_directory(struct scan *scan, bool (*wanted)(const char *name))
{
	const struct dirent *dirent;
	int err = 0;
	scan->sharded = true;
	DIR *stream = opendir(scan->root[0] ? scan->root : "/");
	if (!stream)
		return -errno;
	errno = 0;
	while (!err && (dirent = readdir(stream)))
		if (dirent->d_name[0] != '.' && wanted(dirent->d_name))
			err = containers_add_file(scan, dirent->d_name);
	if (!err && errno)
		err = -errno;
	closedir(stream);
	containers_sort(scan);
	return err;
}

static bool read_number(const char **at, uint64_t *ret, int *ret_digits)
{
	const char *begin = *at;
	*ret = 0;
	for (; isdigit((unsigned char)**at) && *at - begin < 18; ++*at)
		*ret = *ret * 10 + (uint64_t)(**at - '0');
	*ret_digits = (int)(*at - begin);
	return *at > begin;
}

/* A range {FIRST..LAST} in the name of a file. */
struct name_range {
	const char *begin, *end; /* the range with its braces */
	uint64_t first, last;
	int digits; /* numbers are filled up with leading zeros to this many digits */
};

/* Finds the range in a name such as train-{000..099}.tar. Returns false if the name has no range,
 * several ranges, or a range of more than MOST_CONTAINERS numbers. */
static bool read_range(const char *text, struct name_range *ret)
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

int containers_add_range(struct scan *scan, const char *name)
{
	struct name_range range;
	char shard[PATH_MAX];
	size_t most = scan->far ? sizeof(shard) : NAME_MAX + 1;
	int err = 0;
	if (!read_range(name, &range)) {
		log_error("dataset %s: path %s: found \"%s\", allowed: one range in the "
			  "name of the file, as shard-{000000..000146}.tar",
			scan->name, scan->root, name);
		return -EINVAL;
	}
	for (uint64_t i = range.first; !err && i <= range.last; i++) {
		int n = snprintf(shard, most, "%.*s%0*" PRIu64 "%s",
			(int)(range.begin - name), name, range.digits, i, range.end);
		err = (size_t)n < most ? 0 : -ENAMETOOLONG;
		if (!err)
			err = scan->far ? containers_add(scan, shard, 0, 0)
					: containers_add_file(scan, shard);
	}
	return err;
}

int containers_find_pattern(struct scan *scan)
{
	const char *name;
	int err = split_path(scan, &name);
	scan->sharded = true;
	if (!err)
		err = containers_add_range(scan, name);
	containers_sort(scan);
	return err;
}

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
