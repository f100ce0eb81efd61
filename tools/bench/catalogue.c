// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/* catalogue STATE DIRECTORY NAME: makes the catalogue that a first scan of the dataset NAME would
 * write to STATE, but without rows in SQLite. All files of DIRECTORY are hard links to the same
 * tar, so only one is scanned. The rows, 150 bytes per sample, may not fit into memory, so they are
 * in an unnamed file in STATE. */

#include "dataset/dataset_internal.h"
#include "dataset/dataset_map.h"
#include "dataset/source.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static void must(bool right, const char *what)
{
	if (right)
		return;
	perror(what);
	exit(1);
}

static void *file_memory(const char *directory, size_t bytes)
{
	auto_close int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	must(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0, directory);
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(memory != MAP_FAILED, directory);
	return memory;
}

struct shard {
	/* root: a directory that has only this shard; link: path of the shard's hard link in
	 * `root` */
	char *root, *link;
	char *state, *file;
	struct catalogue catalogue;
	struct dataset *dataset;
};

static char *path_of(const char *directory, const char *name)
{
	char *path;
	must(asprintf(&path, "%s/%s", directory, name) >= 0, name);
	return path;
}

static void scan_shard(
	const char *state, const char *directory, const char *name, struct shard *ret)
{
	char one[] = "one", extensions[] = "jpg jpeg png ppm bmp pgm tif tiff webp";
	auto_free char *path = path_of(directory, name);
	ret->root = path_of(state, one);
	ret->link = path_of(ret->root, name);
	ret->state = path_of(state, "one.state");
	ret->file = catalogue_file(ret->state, one, "");
	must(mkdir(ret->root, 0700) == 0, ret->root);
	must(link(path, ret->link) == 0, ret->link);
	const struct dataset_config config = {
		.name = one, .path = ret->root, .extensions = extensions};
	must(dataset_open(&config, ret->state, NULL, &ret->dataset) == 0, path);
	must(catalogue_load(ret->file, ret->root, true, &ret->catalogue) == 0, path);
}

static void forget_shard(struct shard *shard)
{
	auto_free char *datasets = path_of(shard->state, "datasets");
	dataset_close(&shard->dataset);
	catalogue_free(&shard->catalogue);
	dataset_forget(shard->state, "one");
	must(unlink(shard->link) == 0 && rmdir(shard->root) == 0 &&
			rmdir(datasets) == 0 && rmdir(shard->state) == 0,
		shard->state);
	free(shard->root);
	free(shard->link);
	free(shard->state);
	free(shard->file);
}

struct writer {
	const struct catalogue *one;
	size_t n_shards;
	struct dirent **shards;
	struct row *row;
	struct part *part;
	char *path;
};

/* Adds a copy of the row `one`. The copy has the container and the path of shard number `shard`. */
static void add_row(struct writer *writer, const struct row *one, size_t shard)
{
	const char *first = strchr(one->path, '/') + 1;
	const char *name = writer->shards[shard]->d_name;
	int n = sprintf(writer->path, "%.*s%.*s%s", (int)(first - one->path), one->path,
		(int)(strrchr(name, '.') - name), name, strchr(first, '/'));
	*writer->part = *one->part;
	writer->part->container = (uint32_t)shard;
	*writer->row = *one;
	writer->row->path = writer->path;
	(writer->row++)->part = writer->part++;
	writer->path += n + 1;
}

/* Adds the rows of all shards, sorted as a scan sorts them: by class, then shard, then name. */
static void add_rows(struct writer *writer)
{
	const struct row *rows = writer->one->rows;
	for (size_t begin = 0, end; begin < writer->one->n_rows; begin = end) {
		end = begin;
		while (end < writer->one->n_rows && rows[end].label == rows[begin].label)
			end++;
		for (size_t shard = 0; shard < writer->n_shards; shard++)
			for (size_t i = begin; i < end; i++)
				add_row(writer, &rows[i], shard);
	}
}

static void write_all(const char *state, const char *directory, const char *name,
	const struct shard *shard, struct writer *writer)
{
	struct scan scan = {.name = name, .root = root_of_path(directory)};
	struct catalogue all = shard->catalogue;
	struct container *containers = calloc(writer->n_shards, sizeof(*containers));
	size_t n = all.n_rows * writer->n_shards;
	must(scan.root && containers, "memory");
	for (size_t i = 0; i < writer->n_shards; i++) {
		containers[i] = all.containers[0];
		containers[i].name = writer->shards[i]->d_name;
	}
	all.containers = containers;
	all.n_containers = writer->n_shards;
	all.n_rows = 0;
	auto_free char *file = catalogue_file(state, name, "");
	must(file && catalogue_write(file, &scan, &all, NULL, &(struct tree){0}) == 0,
		name);
	all.n_rows = n;
	all.rows = writer->row = file_memory(state, n * sizeof(struct row));
	writer->part = file_memory(state, n * sizeof(struct part));
	writer->path = file_memory(state, n * 64);
	add_rows(writer);
	struct catalogue_map *map;
	must(catalogue_map_make(
		     file, scan.root, map_rule(shard->dataset->map), &all, &map) == 0,
		file);
	map_close(&map);
	free(containers);
	free(scan.root);
}

static int is_shard(const struct dirent *entry)
{
	return source_is_tar_name(entry->d_name);
}

int main(int argc, char **argv)
{
	struct shard shard = {0};
	struct writer writer = {.one = &shard.catalogue};
	if (argc != 4) {
		fprintf(stderr, "usage: catalogue STATE DIRECTORY NAME\n");
		return 2;
	}
	int n = scandir(argv[2], &writer.shards, is_shard, alphasort);
	must(n > 0, argv[2]);
	writer.n_shards = (size_t)n;
	scan_shard(argv[1], argv[2], writer.shards[0]->d_name, &shard);
	write_all(argv[1], argv[2], argv[3], &shard, &writer);
	forget_shard(&shard);
	while (n-- > 0)
		free(writer.shards[n]);
	free(writer.shards);
	return 0;
}
