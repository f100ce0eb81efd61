// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/log.h"
#include "dataset/source_far.h"
#include "far/far_internal.h"

#include <string.h>

/* Texts that servers send: manifests, lists of shards, pages of a listing, heads of answers. The
 * first byte selects the kind. No path may lead out of the dataset. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_path(const char *path)
{
	ensure(path[0] && path[0] != '/' && !strstr(path, "//"));
	for (const char *at = path; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
		ensure(strncmp(at, "../", 3) != 0 && strcmp(at, "..") != 0);
}

static void try_manifest(struct scan *scan, const char *text, size_t size)
{
	struct tree tree = {0};
	struct catalogue catalogue = {0};
	if (manifest_read(scan, text, size) == 0 &&
		far_files_list(scan, &catalogue, &tree) == 0)
		for (size_t i = 0; i < tree.n_files; i++)
			check_path(tree.files[i].path);
	tree_free(&tree);
}

static void try_list(struct scan *scan, char *text)
{
	if (shard_list_read(scan, text) != 0)
		return;
	ensure(scan->n_containers > 0);
	for (size_t i = 0; i < scan->n_containers; i++) {
		const char *name = scan->containers[i].name;
		auto_free char *path = strndup(name, strcspn(name, "?#"));
		if (!far_is(name))
			check_path(path);
	}
}

static int listed(void *context, const char *name, uint64_t bytes, int64_t mtime_ns)
{
	unsigned *n = context;
	ensure(bytes <= INT64_MAX && mtime_ns >= 0);
	if (name[0] && far_name_of(name) == NAME_GOOD)
		check_path(name);
	return ++*n < 100 ? 0 : -1;
}

static void try_listing(char *text)
{
	unsigned n = 0;
	char *next = NULL;
	(void)!listing_read(text, 0, listed, &n, &next);
	free(next);
}

static void try_answer(const char *text, size_t size)
{
	struct answer answer;
	answer_begin(&answer);
	while (size > 0) {
		const char *end = memchr(text, '\n', size);
		size_t n = end ? (size_t)(end - text) + 1 : size;
		answer_line(&answer, text, n);
		text += n;
		size -= n;
	}
	ensure(!answer.has_range || answer.first <= answer.last);
	int64_t version = answer_version(answer.etag, answer.modified);
	ensure(version >= 0 && !versions_differ(version, version));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool quiet;
	struct scan scan = {.name = "fuzz",
		.root = (char[]){"http://host/fuzz"},
		.beside = (char[]){"http://host"},
		.far = true,
		.source = &source_manifest,
		.extensions = "jpg png",
		.settings = (char[]){""}};
	if (!quiet)
		ensure(log_to_file("/dev/null") == 0);
	quiet = true;
	if (size == 0)
		return 0;
	char *text = strndup((const char *)data + 1, size - 1);
	size_t bytes = text ? strlen(text) : 0;
	ensure(text);
	switch (data[0] % 4) {
	case 0:
		try_manifest(&scan, (const char *)data + 1, size - 1);
		break;
	case 1:
		try_list(&scan, text);
		break;
	case 2:
		try_listing(text);
		break;
	default:
		try_answer(text, bytes);
	}
	free(text);
	if (scan.listed)
		listing_free(scan.listed);
	free(scan.listed);
	free(scan.containers);
	arena_free(&scan.names);
	return 0;
}
