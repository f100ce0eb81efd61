// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/source_far.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Lists objects below s3://BUCKET/PREFIX or the like. If all are tars, they are containers.
 * Otherwise tars are ignored, and the rest is like the files of a directory. */

struct bucket {
	struct scan *scan;
	struct listing *listing;
	struct beside_files beside;
	size_t others; /* objects that are not tars */
};

static int take_file(
	struct bucket *bucket, const char *name, uint64_t bytes, int64_t mtime_ns)
{
	struct listing *listing = bucket->listing;
	if (strchr(name, '/') && listing_add_class(listing, name) != 0)
		return -ENOMEM;
	if (metadata_name(base_name(name)))
		issue_add(&listing->issues, ISSUE_METADATA, name, 0);
	if (!wanted_name(bucket->scan->extensions, base_name(name))) {
		const struct beside facts = {.bytes = bytes, .mtime_ns = mtime_ns};
		return beside_wanted(name) ? beside_add(&bucket->beside, &listing->names,
						     name, &facts)
					   : 0;
	}
	struct listed *listed = listing_add(listing);
	if (!listed)
		return -ENOMEM;
	listed->facts =
		(struct facts){.bytes = bytes, .mtime_ns = mtime_ns, .orientation = 1};
	listed->member = arena_text(&listing->names, name);
	return listed->member ? 0 : -ENOMEM;
}

static int take(void *context, const char *name, uint64_t bytes, int64_t mtime_ns)
{
	struct bucket *bucket = context;
	struct scan *scan = bucket->scan;
	size_t n = strlen(name);
	if (scan_stopped(scan))
		return -EINTR;
	if (n == 0 || name[n - 1] == '/' || far_name_of(name) != NAME_GOOD)
		return 0;
	if (source_is_tar_name(name))
		return containers_add(scan, name, bytes, mtime_ns);
	bucket->others++;
	return take_file(bucket, name, bytes, mtime_ns);
}

static int find(struct scan *scan)
{
	struct far_error error;
	struct listing *listing = calloc(1, sizeof(*listing));
	struct bucket bucket = {.scan = scan, .listing = listing};
	if (!listing)
		return -ENOMEM;
	scan->listed = listing;
	int err = far_list(scan->root, take, &bucket, &error);
	if (!err && listing_find_beside(listing, 0, &bucket.beside) != 0)
		err = -ENOMEM;
	free(bucket.beside.of);
	if (err)
		return err == -EINTR || err == -ENOMEM
			       ? err
			       : far_missing(scan, scan->root, err, &error);
	if (scan->n_containers > 0 && bucket.others == 0) {
		scan->source = &source_far_tar;
		scan->sharded = true;
		far_sort_containers(scan);
	} else {
		scan->n_containers = 0;
	}
	return 0;
}

const struct source source_bucket = {
	.name = "bucket",
	.expected =
		"expected a class per directory with images in it: <class>/<file>, or "
		"tar files",
	.find = find,
	.list = far_files_list,
	.examine = far_file_examine,
};
