// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/source.h"

/* Sources whose path is a URL: tar shards (containers), and files of a manifest or bucket. */

/* Sets scan->beside to the dataset's URL without its last component; for a bucket, to the whole
 * URL. -EINVAL, logged: no source can read the URL. */
must_check int far_begin(struct scan *scan);

/* Stores in `scan` the URL, and why it can't be read, for the error message. Returns err, but turns
 * -EINVAL into -EIO, because -EINVAL would mean that the mistake was already logged. */
int far_missing(
	struct scan *scan, const char *url, int err, const struct far_error *error);

/* Sorts the containers by name, and removes duplicates. */
void far_sort_containers(struct scan *scan);

enum far_name { NAME_GOOD, NAME_ODD, NAME_LEADS_OUT };
/* Classifies a path. NAME_ODD: hidden, or too long. NAME_LEADS_OUT: the path leads out of the
 * dataset. */
enum far_name far_name_of(const char *path);

/* Makes the tree from scan->listed, the list that the source's `find` has made. */
must_check int far_files_list(
	struct scan *scan, const struct catalogue *catalogue, struct tree *ret);
bool far_file_examine(struct scan *scan, struct found *found, const struct row *old,
	struct issues *issues);

/* Prints a file's URL. labelled: `relative` begins with a label, which is not a part of the URL.
 * *ret_plain: offset in the URL from which the characters are not %-escaped yet. */
must_check int far_file_url(const char *beside, bool labelled, const char *relative,
	char *ret, size_t size, size_t *ret_plain);

/* Adds the shards of a list as containers. Changes `text`. -EINVAL: a logged mistake. */
must_check int shard_list_read(struct scan *scan, char *text);
/* Makes scan->listed, the list of a manifest's files. -EINVAL: a logged mistake. */
must_check int manifest_read(struct scan *scan, const char *text, size_t bytes);
