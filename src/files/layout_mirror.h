// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_paths.h"
#include "files/inode.h"

struct sched_job;

/*
 * Names of the layout "mirror". A file has the name of its source file with the job's extension
 * appended (tulip.jpg.ppm). If the extension is jpg, tulip.jpg keeps its name, unless the directory
 * also has a file "tulip", which becomes tulip.jpg. A name of more than 255 bytes is cut, and gets
 * a hash of the whole name before the extension.
 *
 * If files that are no samples are shown, too (others = show), the extension replaces the ending of
 * a sample's name: tulip.png becomes tulip.jpg, beside a text tulip.txt. But if two samples of the
 * directory would get the same name, the extension is appended to both.
 *
 *   extension NULL: each file keeps its name.   Threads: any.   Errors: none.
 */

#define MIRROR_NAME 512 /* enough for any name */

void mirror_print(const struct dataset_paths *paths,
	const struct paths_directory *directory, uint32_t file, const char *extension,
	char ret[MIRROR_NAME]);

/* Finds a file of the directory by its name in the mount. UINT32_MAX: there is none. */
uint32_t mirror_find(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *extension, const char *name);

/* A file that is no sample, as the scan found it. */
struct mirror_other {
	char *path;	/* absolute */
	char *boundary; /* directory that must contain the file; NULL: none */
	uint64_t bytes;
	int64_t mtime_ns;
};
/* Finds the file of the dataset that the inode, of kind INODE_OTHER, shows. The caller calls
 * mirror_other_free. -ENOENT, -ENOMEM. */
must_check int mirror_other(
	struct sched_job *job, struct inode inode, struct mirror_other *ret);
void mirror_other_free(struct mirror_other *other);
