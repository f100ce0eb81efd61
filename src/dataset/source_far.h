// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/source.h"

/*
 * Sources whose path is a URL: tar shards, which are containers, and files that a manifest or a
 * listing of a bucket names.
 */

/* Sets scan->beside. -EINVAL, logged: the URL leads to no such source. */
must_check int far_begin(struct scan *scan);

/* Keeps the URL and why it can't be read, for the message, and returns err (-EIO for -EINVAL). */
int far_missing(
	struct scan *scan, const char *url, int err, const struct far_error *error);

must_check int far_add_container(
	struct scan *scan, const char *name, uint64_t bytes, int64_t mtime_ns);
/* Sorts the containers by their names, and removes doubles. */
void far_sort_containers(struct scan *scan);

enum far_name { NAME_GOOD, NAME_ODD, NAME_LEADS_OUT };
/* Judges a path. NAME_ODD: no sample can have it (hidden, too long). */
enum far_name far_name_of(const char *path);

/* list and examine of sources of files: make a tree of scan->listed, and find its facts. */
must_check int far_files_list(
	struct scan *scan, const struct catalogue *catalogue, struct tree *ret);
must_check int far_files_examine(
	struct scan *scan, struct tree *tree, const struct catalogue *catalogue);

/* Makes the URL of a file of the dataset. Its bytes from *ret_plain on are not encoded yet. */
must_check int far_file_url(const char *beside, bool labelled, const char *relative,
	char *ret, size_t size, size_t *ret_plain);

/* Read a list of shards, whose text changes, or a manifest, into the scan. -EINVAL: logged. */
must_check int shard_list_read(struct scan *scan, char *text);
must_check int manifest_read(struct scan *scan, const char *text, size_t bytes);
