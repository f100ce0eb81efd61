// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/source.h"

/*
 * Sources whose path is a URL: tar shards, which are containers, and files by a manifest or
 * by a listing of s3.
 */

/* Sets scan->beside. -EINVAL, logged: the URL leads to nothing of these. */
must_check int far_begin(struct scan *scan);

/* Keeps why the URL can't be read, for the message, and returns err. */
int far_missing(
	struct scan *scan, const char *url, int err, const struct far_error *error);

must_check int far_add_container(
	struct scan *scan, const char *name, uint64_t bytes, int64_t mtime_ns);
/* In the order of their names, each once. */
void far_sort_containers(struct scan *scan);

enum far_name { NAME_GOOD, NAME_ODD, NAME_LEADS_OUT };
/* NAME_ODD: it can't be a sample's (hidden, too long). */
enum far_name far_name_of(const char *path);

/* The listed files of scan->listed, and the facts of each. */
must_check int far_files_list(
	struct scan *scan, const struct catalogue *catalogue, struct tree *ret);
must_check int far_files_examine(
	struct scan *scan, struct tree *tree, const struct catalogue *catalogue);

/* The URL of a file of the dataset, of which the bytes from *ret_plain on are no URL yet. */
must_check int far_file_url(const char *beside, bool labelled, const char *relative,
	char *ret, size_t size, size_t *ret_plain);

/* Reads a list of shards, or a manifest, into the scan; the text changes. -EINVAL: logged. */
must_check int shard_list_read(struct scan *scan, char *text);
must_check int manifest_read(struct scan *scan, const char *text, size_t bytes);
