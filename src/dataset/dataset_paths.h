// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset.h"

/*
 * The samples of a dataset as directories and files, to show them under their own names.
 *
 *   Flow: the first call of dataset_paths reads the whole catalogue and makes it.
 *   Owns: it belongs to the dataset, until that is closed, and never changes.
 *   Threads: any.   Errors: -ENOMEM, -EIO, logged.
 */

struct dataset_paths;

/* Directories and files are in byte order of their names. */
struct paths_directory {
	const char *name; /* "" for the root, which is directory 0 */
	uint32_t parent;
	uint32_t first_file, n_files; /* directly in it */
	uint32_t n_below;	      /* files in it and below it, from first_file on */
	uint32_t first_child, n_children;
};

must_check int dataset_paths(struct dataset *dataset, const struct dataset_paths **ret);

uint32_t paths_directories(const struct dataset_paths *paths);
const struct paths_directory *paths_directory(
	const struct dataset_paths *paths, uint32_t number);
/* The number of a child: i counts from first_child. */
uint32_t paths_child(const struct dataset_paths *paths, uint32_t i);

/* A file that is no sample, as annotations are. */
struct paths_other {
	const char *path; /* relative to the root */
	uint64_t bytes;
	int64_t mtime_ns;
};
/* true: the dataset shows files that are no samples, if there are some. */
bool paths_show_others(const struct dataset_paths *paths);
/* NULL: file i is a sample, or there is no file i. */
const struct paths_other *paths_other(const struct dataset_paths *paths, uint32_t i);

/* A file: i counts from first_file. SAMPLE_NONE: it is another one. */
sample_id paths_sample(const struct dataset_paths *paths, uint32_t i);
const char *paths_name(const struct dataset_paths *paths, uint32_t i);

/* UINT32_MAX: there is none. find_file looks for the first n bytes of name. */
uint32_t paths_find_child(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *name);
/* Finds the sample of a directory whose name is the first n bytes of name and an ending without a
 * dot. UINT32_MAX: there is none, or several. */
uint32_t paths_find_stem(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *name, size_t n);
uint32_t paths_find_file(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *name, size_t n);
