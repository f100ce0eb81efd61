// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset.h"

/*
 * The tree of a dataset's directories and files, for layouts that show samples by their names.
 *
 *   Flow: the first call of dataset_paths reads all paths; other callers wait.
 *   Owns: the dataset has the tree until it is closed. The tree never changes.
 *   Threads: any.
 *   Errors: -EOVERFLOW: there are too many files. -EIO or another error of a read. All are logged,
 *           except -ENOMEM.
 */

struct dataset_paths;

/* A directory. Subdirectories and files are sorted by the bytes of their names. */
struct paths_directory {
	const char *name; /* "" for the root, which is directory 0 */
	uint32_t parent;
	uint32_t first_file, n_files; /* files directly in this directory */
	uint32_t n_below;	      /* files here and below, from first_file on */
	uint32_t first_child, n_children;
};

must_check int dataset_paths(struct dataset *dataset, const struct dataset_paths **ret);

uint32_t paths_directories(const struct dataset_paths *paths);
const struct paths_directory *paths_directory(
	const struct dataset_paths *paths, uint32_t number);
/* Returns the number of a directory: element i of a list that has the subdirectories of all
 * directories. The subdirectories of one directory are n_children elements, from first_child on. */
uint32_t paths_child(const struct dataset_paths *paths, uint32_t i);

/* A file that is not a sample, for instance a file of annotations. */
struct paths_other {
	const char *path; /* relative to the root */
	uint64_t bytes;
	int64_t mtime_ns;
};
bool paths_show_others(const struct dataset_paths *paths);
/* Returns NULL if file i is a sample, or does not exist. */
const struct paths_other *paths_other(const struct dataset_paths *paths, uint32_t i);

/* Returns SAMPLE_NONE if file i (numbered as in paths_directory.first_file) is not a sample. */
sample_id paths_sample(const struct dataset_paths *paths, uint32_t i);
const char *paths_name(const struct dataset_paths *paths, uint32_t i);

/* Returns UINT32_MAX if there is no such subdirectory. */
uint32_t paths_find_child(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *name);
/* Finds the sample whose name is the first n bytes of `name`, a dot, and an ending without a dot.
 * Returns the number of its file; UINT32_MAX: there is none, or there are several. */
uint32_t paths_find_stem(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *name, size_t n);
/* Returns the number of the file whose name is the first n bytes of `name`; UINT32_MAX: none. */
uint32_t paths_find_file(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *name, size_t n);
