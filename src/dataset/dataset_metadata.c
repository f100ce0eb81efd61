// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/log.h"
#include "dataset/metadata_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Reads metadata by the rules of "imagefolder" in the library `datasets` of Hugging Face. A file of
 * metadata describes samples below its directory. Columns with the same name are one column. If
 * several files describe a sample, the file in the nearest directory counts. */

/* Version of the rules, and part of the stamp: a new version makes a scan read all metadata
 * again. */
#define RULES "3"

struct metadata {
	const struct scan *scan;
	struct metadata_file *files;
	size_t n_files, files_capacity;
	char stamp[64];
	struct column *columns;
	size_t n_columns, columns_capacity;
};

static int look_at(const struct scan *scan, const char *name, struct stat *ret)
{
	char path[PATH_MAX];
	int err = scan_beside(scan->beside, name, path, sizeof(path));
	if (!err && stat(path, ret) < 0)
		err = -errno;
	if (!err && !S_ISREG(ret->st_mode))
		err = S_ISDIR(ret->st_mode) ? -EISDIR : -EINVAL;
	return !err && scan->real && !scan_inside(scan, name) ? -EXDEV : err;
}

static int add_file(struct metadata *metadata, const char *name)
{
	const struct scan *scan = metadata->scan;
	struct stat st;
	struct quoted quoted;
	int err = look_at(scan, name, &st);
	if (err && err != -ENOENT)
		log_warn("dataset %s: %s%s%s; it is left out%s", scan->name,
			quote_name(&quoted, name),
			err == -EXDEV ? " leads out of the tree" : ": can't be read: ",
			err == -EXDEV ? "" : strerror(-err),
			err == -EXDEV ? " (symlinks = follow allows it)" : "");
	if (err)
		return 0;
	char *path = strdup(name);
	if (!path || !array_make_room(metadata->files, metadata->n_files,
			     &metadata->files_capacity)) {
		free(path);
		return -ENOMEM;
	}
	metadata->files[metadata->n_files++] = (struct metadata_file){.scan = scan,
		.path = path,
		.directory = (size_t)(base_name(path) - path),
		.label_column = scan->label == LABEL_CSV ? scan->label_field : NULL,
		.label = SIZE_MAX,
		.file_name = SIZE_MAX,
		.jsonl = strcmp(base_name(path), "metadata.jsonl") == 0,
		.bytes = st.st_size,
		.mtime = st.st_mtim};
	return 0;
}

static int count_slashes(const char *path)
{
	int n = 0;
	for (; *path; path++)
		n += *path == '/';
	return n;
}

/* Sorts by depth, so that the files of the root come first, and then by path. */
static int compare_files(const void *a, const void *b)
{
	const char *one = ((const struct metadata_file *)a)->path;
	const char *other = ((const struct metadata_file *)b)->path;
	int order = count_slashes(one) - count_slashes(other);
	return order ? order : strcmp(one, other);
}

static int make_stamp(struct metadata *metadata)
{
	auto_free char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < metadata->n_files; i++) {
		const struct metadata_file *file = &metadata->files[i];
		fprintf(out, "%s\n%lld %lld.%09ld\n", file->path, (long long)file->bytes,
			(long long)file->mtime.tv_sec, file->mtime.tv_nsec);
	}
	if (fclose(out) != 0)
		return -ENOMEM;
	snprintf(metadata->stamp, sizeof(metadata->stamp), RULES " %zu %016" PRIx64,
		metadata->n_files, text_hash(text, size));
	return 0;
}

int metadata_open(const struct scan *scan, const struct tree *tree, struct metadata **ret)
{
	*ret = NULL;
	if (scan->far)
		return 0;
	struct metadata *metadata = calloc(1, sizeof(*metadata));
	if (!metadata)
		return -ENOMEM;
	metadata->scan = scan;
	int err = add_file(metadata, "metadata.csv");
	if (!err)
		err = add_file(metadata, "metadata.jsonl");
	for (size_t i = 0; !err && tree && i < tree->metadata.n; i++)
		err = add_file(metadata, tree->metadata.name[i]);
	if (!err && metadata->n_files) {
		qsort(metadata->files, metadata->n_files, sizeof(*metadata->files),
			compare_files);
		err = make_stamp(metadata);
	}
	if (err || metadata->n_files == 0)
		metadata_close(&metadata);
	*ret = metadata;
	return err;
}

void metadata_close(struct metadata **metadata)
{
	struct metadata *old = *metadata;
	*metadata = NULL;
	if (!old)
		return;
	for (size_t i = 0; i < old->n_files; i++)
		metadata_file_free(&old->files[i]);
	free(old->files);
	free(old->columns);
	free(old);
}

const char *metadata_stamp(const struct metadata *metadata)
{
	return metadata ? metadata->stamp : "";
}

/* Changes the type of `into` so that it fits the values of both columns. */
static void join_types(struct column *into, const struct column *column)
{
	if (!column->seen)
		return;
	if (!into->seen) {
		into->type = column->type;
		into->style = column->style;
		into->seen = true;
		return;
	}
	bool integers = into->type == COLUMN_INTEGER && column->type == COLUMN_INTEGER;
	bool texts = into->type == COLUMN_TEXT || column->type == COLUMN_TEXT;
	into->style.ways &= column->style.ways;
	if (into->style.decimals != column->style.decimals)
		into->style.ways &= ~(unsigned)(NUMBER_FIXED | NUMBER_EXPONENT);
	if (texts || (!integers && !into->style.ways))
		into->type = COLUMN_TEXT;
	else if (!integers)
		into->type = COLUMN_REAL;
}

/* Adds a file's column to the columns of all files, unless these have a column of this name. Sets
 * *ret to false, and adds nothing, if there are MAX_COLUMNS columns already. */
static int join_column(struct metadata *metadata, struct column *column, bool *ret)
{
	struct column *found =
		column_find(metadata->columns, metadata->n_columns, column->name);
	*ret = found || metadata->n_columns < MAX_COLUMNS;
	if (!*ret)
		return 0;
	if (!found) {
		if (!array_make_room(metadata->columns, metadata->n_columns,
			    &metadata->columns_capacity))
			return -ENOMEM;
		found = &metadata->columns[metadata->n_columns++];
		*found = (struct column){.name = column->name,
			.type = COLUMN_INTEGER,
			.style = NUMBER_ANY_STYLE};
	}
	join_types(found, column);
	column->number = (size_t)(found - metadata->columns);
	return 0;
}

static int join_columns(struct metadata *metadata, struct metadata_file *file)
{
	bool joined = true;
	size_t i;
	struct quoted path;
	for (i = 0; i < file->n_columns; i++) {
		int err = join_column(metadata, &file->columns[i], &joined);
		if (err)
			return err;
		if (!joined)
			break;
	}
	if (joined)
		return 0;
	log_warn("dataset %s: %s: found more than %d columns in all files of metadata; "
		 "those from \"%s\" on are left out",
		file->scan->name, quote_name(&path, file->path), MAX_COLUMNS,
		file->columns[i].name);
	for (size_t left = i; left < file->n_columns; left++)
		free(file->columns[left].name);
	file->n_columns = i;
	return 0;
}

int metadata_read_columns(struct metadata *metadata)
{
	int err = 0;
	for (size_t i = 0; !err && i < metadata->n_files; i++) {
		err = metadata_file_columns(&metadata->files[i]);
		if (!err && metadata->files[i].usable)
			err = join_columns(metadata, &metadata->files[i]);
	}
	for (size_t i = 0; i < metadata->n_columns; i++)
		if (!metadata->columns[i].seen)
			metadata->columns[i].type = COLUMN_TEXT;
	return err;
}

const struct column *metadata_columns(const struct metadata *metadata, size_t *ret_n)
{
	*ret_n = metadata->n_columns;
	return metadata->columns;
}

bool metadata_has_label(const struct metadata *metadata)
{
	for (size_t i = 0; i < metadata->n_files; i++)
		if (metadata->files[i].usable && metadata->files[i].label != SIZE_MAX)
			return true;
	return false;
}

int metadata_rows(struct metadata *metadata, metadata_row *row, void *context)
{
	int err = 0;
	for (size_t i = 0; !err && i < metadata->n_files; i++) {
		struct metadata_line line = {.file = i};
		if (!metadata->files[i].usable)
			continue;
		err = metadata_file_rows(
			&metadata->files[i], metadata->n_columns, &line, row, context);
		if (err == -EINVAL)
			/* The file can no longer be read. metadata_file_rows has logged this; the
			 * other files are still read. */
			err = 0;
	}
	return err;
}
