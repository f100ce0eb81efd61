// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_paths.h"

/*
 * Names of the layout "mirror": that of the source file and the job's extension after it
 * (tulip.jpg.ppm), but tulip.jpg itself where the extension is jpg, unless the directory
 * has a file "tulip" too, which is called so.
 *
 *   extension NULL: every file has its own name.
 *   Threads: any.   Errors: none.
 */

#define MIRROR_NAME 512 /* bytes that hold any name */

void mirror_print(const struct dataset_paths *paths,
	const struct paths_directory *directory, uint32_t file, const char *extension,
	char ret[MIRROR_NAME]);

/* The file of a directory that is called so; UINT32_MAX: none. */
uint32_t mirror_find(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *extension, const char *name);
