// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/source.h"

#include <dirent.h>
#include <sys/stat.h>

/* Chooses the source: by content for a directory, otherwise by name. */

static const struct source *by_name(const char *path)
{
	if (source_is_tar_name(path))
		return &source_tar;
	if (source_name_ends(path, ".zip"))
		return &source_zip;
	return source_name_ends(path, ".lmdb") || source_name_ends(path, ".mdb")
		       ? &source_lmdb
		       : &source_directory;
}

static bool has_entry(const char *directory, const char *name)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s", directory, name);
	return (size_t)n < sizeof(path) && access(path, F_OK) == 0;
}

static bool is_directory(DIR *stream, const struct dirent *dirent)
{
	struct stat st;
	if (dirent->d_type != DT_UNKNOWN && dirent->d_type != DT_LNK)
		return dirent->d_type == DT_DIR;
	return fstatat(dirfd(stream), dirent->d_name, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

/* Tells whether the directory contains tars, but no directories. If it contains directories, these
 * could be the unpacked tars. */
static bool is_of_tars(const char *directory)
{
	DIR *stream = opendir(directory);
	const struct dirent *dirent;
	bool tars = false, directories = false;
	while (stream && !directories && (dirent = readdir(stream))) {
		if (dirent->d_name[0] == '.')
			continue;
		directories = is_directory(stream, dirent);
		tars = tars || source_is_tar_name(dirent->d_name);
	}
	if (stream)
		closedir(stream);
	return tars && !directories;
}

const struct source *source_of(const char *path)
{
	struct stat st;
	if (far_is(path))
		return source_of_url(path);
	if (stat(path, &st) != 0 || S_ISREG(st.st_mode))
		return by_name(path);
	if (has_entry(path, "data.mdb"))
		return &source_lmdb;
	return is_of_tars(path) ? &source_tar : &source_directory;
}
