// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_paths.h"
#include "base/ensure.h"
#include "base/log.h"
#include "dataset/dataset_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Directories are in preorder: a directory comes directly before its subdirectories. Files are
 * sorted by directory, so the files below a directory are a range of n_below files:
 *
 *   directory, number     files
 *
 *   /         0           a/1  a/2 | a/x/3 | b/4
 *   |- a      1           '- n_below of a -'
 *   |  `- x   2
 *   `- b      3
 */
struct path_file {
	/* last component of the path; until the files are sorted: the whole path */
	const char *name;
	sample_id id;	/* SAMPLE_NONE: not a sample */
	uint32_t other; /* index in `others`, if not a sample */
};

struct dataset_paths {
	struct path_file *files;
	uint32_t n_files;
	size_t files_capacity;
	struct paths_other *others;
	uint32_t n_others;
	size_t others_capacity;
	bool shows_others;
	struct paths_directory *directories;
	uint32_t n_directories;
	size_t capacity;
	uint32_t *children;
	struct arena names;
	struct arena texts; /* whole paths of samples, until the files are sorted */
};

/* Compares the paths of two directories, so that sorted directories are in preorder. */
static int compare_directories(const char *a, size_t n_a, const char *b, size_t n_b)
{
	for (size_t i = 0; i < n_a && i < n_b; i++) {
		if (a[i] == b[i])
			continue;
		if (a[i] == '/' || b[i] == '/')
			return a[i] == '/' ? -1 : 1;
		return (unsigned char)a[i] < (unsigned char)b[i] ? -1 : 1;
	}
	return (n_a > n_b) - (n_a < n_b);
}

static int compare_paths(const char *a, const char *b)
{
	size_t n_a = directory_bytes(a), n_b = directory_bytes(b);
	int order = compare_directories(a, n_a, b, n_b);
	return order ? order : strcmp(a + n_a, b + n_b);
}

static int compare_files(const void *a, const void *b)
{
	return compare_paths(
		((const struct path_file *)a)->name, ((const struct path_file *)b)->name);
}

static int add_other(void *context, sqlite3_stmt *statement)
{
	struct dataset_paths *paths = context;
	if (paths->n_files >= CONFIG_MOST_SAMPLES) {
		log_error("a dataset can't show more than %u files", CONFIG_MOST_SAMPLES);
		return -EOVERFLOW;
	}
	const char *path = (const char *)sqlite3_column_text(statement, 0);
	const char *copy = path ? arena_text(&paths->names, path) : NULL;
	if (!copy ||
		!array_make_room(
			paths->others, paths->n_others, &paths->others_capacity) ||
		!array_make_room(paths->files, paths->n_files, &paths->files_capacity))
		return -ENOMEM;
	paths->others[paths->n_others] = (struct paths_other){.path = copy,
		.bytes = (uint64_t)sqlite3_column_int64(statement, 1),
		.mtime_ns = sqlite3_column_int64(statement, 2)};
	paths->files[paths->n_files++] = (struct path_file){
		.name = copy, .id = SAMPLE_NONE, .other = paths->n_others++};
	return 0;
}

/* The table `others` only exists if the dataset shows files that are not samples. */
static int read_others(sqlite3 *db, struct dataset_paths *paths)
{
	int err = catalogue_has_table(db, "others", &paths->shows_others);
	if (!err && paths->shows_others)
		err = catalogue_each(
			db, "SELECT path, bytes, mtime_ns FROM others", add_other, paths);
	return err == -EILSEQ ? -EIO : err;
}

static int alloc_files(const struct dataset *dataset, struct dataset_paths *paths)
{
	paths->files_capacity = (size_t)dataset->n_ids + 1;
	paths->files = calloc(paths->files_capacity, sizeof(*paths->files));
	return paths->files ? 0 : -ENOMEM;
}

int dataset_read_path(const struct dataset *dataset, sample_id id, struct path_text *text)
{
	if (map_path(dataset->map, id, text))
		return 0;
	log_error("catalogue %s: the path of sample %u is damaged", dataset->file, id);
	return -EIO;
}

static int list_files(struct dataset *dataset, struct dataset_paths *paths)
{
	roaring_uint32_iterator_t id;
	struct path_text text = {0};
	int err = alloc_files(dataset, paths);
	roaring_init_iterator(dataset->present, &id);
	for (; !err && id.has_value; roaring_advance_uint32_iterator(&id)) {
		struct path_file *file = &paths->files[paths->n_files++];
		file->id = id.current_value;
		err = dataset_read_path(dataset, file->id, &text);
		if (!err && !(file->name = arena_text(&paths->texts, text.text)))
			err = -ENOMEM;
	}
	return err;
}

static int list_others(struct dataset *dataset, struct dataset_paths *paths)
{
	struct connection *connection;
	int err = connection_take(dataset, &connection);
	if (err)
		return err;
	err = read_others(connection->db, paths);
	if (err)
		log_error("catalogue %s: its paths can't be read: %s", dataset->file,
			strerror(-err));
	connection_give(dataset, connection);
	return err;
}

/* Adds a directory, which must be the next in preorder. */
static int add_directory(struct dataset_paths *paths, uint32_t parent, const char *name,
	size_t bytes, uint32_t first_file, uint32_t *ret)
{
	char *copy = arena_span(&paths->names, name, bytes);
	if (!copy || !array_make_room(
			     paths->directories, paths->n_directories, &paths->capacity))
		return -ENOMEM;
	paths->directories[paths->n_directories] = (struct paths_directory){
		.name = copy, .parent = parent, .first_file = first_file};
	if (paths->n_directories > 0)
		paths->directories[parent].n_children++;
	*ret = paths->n_directories++;
	return 0;
}

/* Finds or adds the directory of the file with this path. Files come in preorder, so the directory
 * is new, or the last one that was added to its parent. A parent's first_child is the number of
 * this last directory (0: none), until make_children. */
static int enter(
	struct dataset_paths *paths, const char *path, uint32_t file, uint32_t *ret)
{
	const char *slash;
	*ret = 0;
	for (; (slash = strchr(path, '/')); path = slash + 1) {
		size_t n = (size_t)(slash - path);
		uint32_t parent = *ret, last = paths->directories[parent].first_child;
		if (last && span_is(path, n, paths->directories[last].name)) {
			*ret = last;
			continue;
		}
		int err = add_directory(paths, parent, path, n, file, ret);
		if (err)
			return err;
		paths->directories[parent].first_child = *ret;
	}
	return 0;
}

/* Sets file->name to the last component of `path`. Copies the name of a sample; the path of a file
 * that is no sample lies in paths->names already. Counts the file in its directory. */
static int add_name(struct dataset_paths *paths, uint32_t directory, const char *path,
	struct path_file *file)
{
	const char *name = path + directory_bytes(path);
	name += *name == '/';
	file->name = file->id == SAMPLE_NONE ? name : arena_text(&paths->names, name);
	paths->directories[directory].n_files++;
	return file->name ? 0 : -ENOMEM;
}

static int make_directories(struct dataset_paths *paths)
{
	uint32_t directory;
	int err = add_directory(paths, 0, "", 0, 0, &directory);
	if (paths->n_files > 0)
		qsort(paths->files, paths->n_files, sizeof(*paths->files), compare_files);
	for (uint32_t i = 0; !err && i < paths->n_files; i++) {
		const char *path = paths->files[i].name;
		err = enter(paths, path, i, &directory);
		if (!err)
			err = add_name(paths, directory, path, &paths->files[i]);
	}
	return err;
}

/* The last added file, and its directory. */
struct entered {
	char path[PATH_MAX];
	size_t directory_bytes;
	uint32_t directory;
};

/* Adds a sample to the tree. Returns 1 if its path sorts before the path of `last`, the sample that
 * was added before. */
static int add_in_order(struct dataset_paths *paths, struct entered *last, sample_id id,
	const struct path_text *text)
{
	const char *path = text->text;
	size_t n = directory_bytes(path);
	struct path_file *file = &paths->files[paths->n_files];
	bool same = n == last->directory_bytes && memcmp(path, last->path, n) == 0;
	int err = 0;
	if ((same ? strcmp(last->path + n, path + n) : compare_paths(last->path, path)) >
		0)
		return 1;
	if (!same)
		err = enter(paths, path, paths->n_files, &last->directory);
	if (err)
		return err;
	memcpy(last->path, path, text->length + 1);
	last->directory_bytes = n;
	file->id = id;
	paths->n_files++;
	return add_name(paths, last->directory, path, file);
}

/* Makes the tree without a sort, and without memory for whole paths. Returns 1 if this is
 * impossible: ids are not in the order of paths, or there are files that are not samples. After a
 * first scan, ids are in the order of paths. */
static int make_in_order(struct dataset *dataset, struct dataset_paths *paths)
{
	roaring_uint32_iterator_t id;
	struct path_text text = {0};
	struct entered last = {.path = ""};
	int err = list_others(dataset, paths);
	if (!err && paths->n_files > 0)
		return 1;
	if (!err)
		err = alloc_files(dataset, paths);
	if (!err)
		err = add_directory(paths, 0, "", 0, 0, &last.directory);
	roaring_init_iterator(dataset->present, &id);
	for (; !err && id.has_value; roaring_advance_uint32_iterator(&id)) {
		err = dataset_read_path(dataset, id.current_value, &text);
		if (!err)
			err = add_in_order(paths, &last, id.current_value, &text);
	}
	return err;
}

static void count_below(struct dataset_paths *paths)
{
	struct paths_directory *directories = paths->directories;
	for (uint32_t i = paths->n_directories; i-- > 0;) {
		directories[i].n_below += directories[i].n_files;
		if (i > 0)
			directories[directories[i].parent].n_below +=
				directories[i].n_below;
	}
}

static int make_children(struct dataset_paths *paths)
{
	uint32_t next = 0;
	paths->children = calloc(paths->n_directories, sizeof(*paths->children));
	if (!paths->children)
		return -ENOMEM;
	for (uint32_t i = 0; i < paths->n_directories; i++) {
		paths->directories[i].first_child = next;
		next += paths->directories[i].n_children;
		paths->directories[i].n_children = 0;
	}
	for (uint32_t i = 1; i < paths->n_directories; i++) {
		struct paths_directory *parent =
			&paths->directories[paths->directories[i].parent];
		paths->children[parent->first_child + parent->n_children++] = i;
	}
	return 0;
}

void dataset_paths_free(struct dataset_paths *paths)
{
	if (!paths)
		return;
	free(paths->files);
	free(paths->others);
	free(paths->directories);
	free(paths->children);
	arena_free(&paths->names);
	arena_free(&paths->texts);
	free(paths);
}

static int make(struct dataset *dataset, bool in_order, struct dataset_paths **ret)
{
	struct dataset_paths *paths = *ret = calloc(1, sizeof(*paths));
	if (!paths)
		return -ENOMEM;
	int err = in_order ? make_in_order(dataset, paths) : list_files(dataset, paths);
	if (!err && !in_order)
		err = list_others(dataset, paths);
	if (!err && !in_order)
		err = make_directories(paths);
	if (!err)
		err = make_children(paths);
	arena_free(&paths->texts);
	if (err) {
		dataset_paths_free(paths);
		*ret = NULL;
		return err;
	}
	count_below(paths);
	return 0;
}

/* Waits for another thread that makes the tree. Returns NULL if the caller must make it. */
static struct dataset_paths *begin(struct dataset *dataset)
{
	LOCK_SCOPE(&dataset->lock);
	while (dataset->making_paths)
		lock_wait(&dataset->lock, &dataset->paths_made);
	dataset->making_paths = !dataset->paths;
	return dataset->paths;
}

static void end(struct dataset *dataset, struct dataset_paths *paths)
{
	LOCK_SCOPE(&dataset->lock);
	dataset->paths = paths;
	dataset->making_paths = false;
	pthread_cond_broadcast(&dataset->paths_made);
}

int dataset_paths(struct dataset *dataset, const struct dataset_paths **ret)
{
	struct dataset_paths *paths = begin(dataset);
	int err = 0;
	if (!paths) {
		err = make(dataset, true, &paths);
		if (err == 1)
			err = make(dataset, false, &paths);
		end(dataset, paths);
	}
	*ret = paths;
	return err;
}

uint32_t paths_directories(const struct dataset_paths *paths)
{
	return paths->n_directories;
}

const struct paths_directory *paths_directory(
	const struct dataset_paths *paths, uint32_t number)
{
	ensure(number < paths->n_directories);
	return &paths->directories[number];
}

uint32_t paths_child(const struct dataset_paths *paths, uint32_t i)
{
	ensure(i < paths->n_directories);
	return paths->children[i];
}

sample_id paths_sample(const struct dataset_paths *paths, uint32_t i)
{
	ensure(i < paths->n_files);
	return paths->files[i].id;
}

bool paths_show_others(const struct dataset_paths *paths)
{
	return paths->shows_others;
}

const struct paths_other *paths_other(const struct dataset_paths *paths, uint32_t i)
{
	if (i >= paths->n_files || paths->files[i].id != SAMPLE_NONE)
		return NULL;
	return &paths->others[paths->files[i].other];
}

const char *paths_name(const struct dataset_paths *paths, uint32_t i)
{
	ensure(i < paths->n_files);
	return paths->files[i].name;
}

uint32_t paths_find_child(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *name)
{
	uint32_t low = directory->first_child, high = low + directory->n_children;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint32_t child = paths->children[middle];
		int order = strcmp(name, paths->directories[child].name);
		if (order == 0)
			return child;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return UINT32_MAX;
}

/* Returns the number of the directory's first file whose name, in byte order, is the key or comes
 * after it. The key is the first n bytes of `name`, followed by the byte `next`. If there is no
 * such file, returns the number after the directory's last file. */
static uint32_t first_from(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *name, size_t n,
	unsigned char next)
{
	uint32_t low = directory->first_file, high = low + directory->n_files;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const char *file = paths->files[middle].name;
		int order = strncmp(name, file, n);
		if (order > 0 || (order == 0 && (unsigned char)file[n] < next))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t paths_find_file(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *name, size_t n)
{
	uint32_t i = first_from(paths, directory, name, n, '\0');
	if (i == directory->first_file + directory->n_files)
		return UINT32_MAX;
	return span_is(name, n, paths->files[i].name) ? i : UINT32_MAX;
}

uint32_t paths_find_stem(const struct dataset_paths *paths,
	const struct paths_directory *directory, const char *name, size_t n)
{
	uint32_t found = UINT32_MAX, end = directory->first_file + directory->n_files;
	for (uint32_t i = first_from(paths, directory, name, n, '.'); i < end; i++) {
		const char *file = paths->files[i].name;
		if (strncmp(name, file, n) != 0 || file[n] != '.')
			break;
		if (paths->files[i].id == SAMPLE_NONE || strchr(file + n + 1, '.'))
			continue;
		if (found != UINT32_MAX)
			return UINT32_MAX;
		found = i;
	}
	return found;
}
