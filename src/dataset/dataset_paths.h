// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset.h"

/*
 * The samples of a dataset as the directories and files that they are, for those who
 * show them under their own names.
 *
 *   Flow: dataset_paths makes it at the first call: it reads the whole catalogue.
 *   Owns: the dataset has it until it is closed; it never changes.
 *   Threads: any.   Errors: -ENOMEM, -EIO, logged.
 */

struct dataset_paths;

/* Directories and files are in byte order of their names. */
struct paths_directory {
	const char *name; /* "" for the root, which is directory 0 */
	uint32_t parent;
	uint32_t first_file, n_files; /* in it */
	uint32_t n_below;	      /* in it and below it: from first_file on */
	uint32_t first_child, n_children;
};

must_check int dataset_paths(struct dataset *dataset, const struct dataset_paths **ret);

uint32_t paths_directories(const struct dataset_paths *paths);
const struct paths_directory *paths_directory(
	const struct dataset_paths *paths, uint32_t number);
/* From first_child on: the number of that directory. */
uint32_t paths_child(const struct dataset_paths *paths, uint32_t i);

/* From first_file on. */
sample_id paths_sample(const struct dataset_paths *paths, uint32_t i);
const char *paths_name(const struct dataset_paths *paths, uint32_t i);

/* UINT32_MAX: none. A file by the first n bytes of name. */
uint32_t paths_find_child(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *name);
uint32_t paths_find_file(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *name, size_t n);
