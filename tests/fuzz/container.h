// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/ensure.h"
#include "base/log.h"
#include "dataset/source.h"
#include "memory_file.h"

/*
 * Lists a container of any bytes, as a scan does. Each sample must lie within the container, and
 * its path must not lead out of the dataset.
 */

static inline void fuzz_check_path(const char *path)
{
	ensure(path[0] && path[0] != '/' && !strstr(path, "//"));
	for (const char *at = path; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
		ensure(at[0] != '.' && at[0] != '\0');
}

static inline void fuzz_check_found(const struct found *found, uint64_t size)
{
	const struct source_part *part = &found->part->at;
	fuzz_check_path(found->path);
	ensure(strchr(found->path, '/'));
	ensure(part->offset <= size && part->stored_bytes <= size - part->offset);
	ensure(part->method == PART_DEFLATED || part->stored_bytes == found->facts.bytes);
}

static inline void fuzz_container(const struct source *source, enum label_kind label,
	const uint8_t *data, size_t size)
{
	static bool quiet;
	struct memory_file file;
	struct tree tree = {0};
	struct catalogue catalogue = {0};
	char name[16];
	if (!quiet)
		ensure(log_to_file("/dev/null") == 0);
	quiet = true;
	memory_file_open(&file, data, size);
	snprintf(name, sizeof(name), "%d", file.fd);
	struct container container = {.name = name, .bytes = size};
	struct scan scan = {.name = "fuzz",
		.source = source,
		.root = (char[]){"/fuzz"},
		.beside = (char[]){"/proc/self/fd"},
		.containers = &container,
		.n_containers = 1,
		.extensions = "jpg png",
		.threads = 1,
		.label = label,
		.label_field = "a.b",
		.settings = (char[]){""}};
	if (source->list(&scan, &catalogue, &tree) == 0)
		for (size_t i = 0; i < tree.n_files; i++)
			fuzz_check_found(&tree.files[i], size);
	tree_free(&tree);
	arena_free(&scan.names);
	memory_file_close(&file);
}
