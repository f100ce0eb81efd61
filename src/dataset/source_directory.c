// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "base/fault.h"
#include "dataset/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Lists the tree with several threads, which take directories from a common stack and push
 * subdirectories. Names are sorted at the end, so the result does not depend on the threads. */

/* The largest number of links to directories in a path. Without this limit, a few links to each
 * other's directories could lead to the same files over millions of paths. */
#define MAX_LINKED_DIRECTORIES 2

struct dir {
	struct dir *next;
	const struct dir *parent; /* NULL: the root */
	dev_t device;
	ino_t inode;
	unsigned links; /* symbolic links in the path */
	char path[];	/* relative to the root, which is "" */
};

struct walk {
	struct scan *scan;
	struct tree *parts; /* one per thread */
	struct lock lock;
	pthread_cond_t wake;
	struct dir *stack; /* (lock) directories to be listed */
	unsigned busy;	   /* (lock) directories that threads are listing */
	int error;	   /* (lock) first error; ends the walk */
};

struct entry {
	const char *name;
	char path[PATH_MAX];  /* relative to the root */
	struct looked looked; /* facts of the entry, or of a link's target */
	bool link;
};

static struct dir *take_dir(struct walk *walk)
{
	LOCK_SCOPE(&walk->lock);
	while (!walk->stack && walk->busy && !walk->error)
		lock_wait(&walk->lock, &walk->wake);
	if (!walk->stack || walk->error)
		return NULL;
	struct dir *dir = walk->stack;
	walk->stack = dir->next;
	walk->busy++;
	return dir;
}

static void push_dir(struct walk *walk, struct dir *dir)
{
	LOCK_SCOPE(&walk->lock);
	dir->next = walk->stack;
	walk->stack = dir;
	pthread_cond_signal(&walk->wake);
}

static void finish_dir(struct walk *walk, int error)
{
	LOCK_SCOPE(&walk->lock);
	walk->busy--;
	if (error && !walk->error)
		walk->error = error;
	pthread_cond_broadcast(&walk->wake);
}

static struct dir *dir_new(
	struct tree *part, const struct dir *parent, const char *path, unsigned links)
{
	size_t n = strlen(path) + 1;
	struct dir *dir = arena_alloc(&part->names, sizeof(*dir) + n);
	if (!dir)
		return NULL;
	*dir = (struct dir){.parent = parent, .links = links};
	memcpy(dir->path, path, n);
	return dir;
}

static int add_file(struct walk *walk, struct tree *part, const struct entry *entry)
{
	const char *path = arena_text(&part->names, entry->path);
	if (!path || !array_make_room(part->files, part->n_files, &part->files_capacity))
		return -ENOMEM;
	part->files[part->n_files++] = (struct found){.path = path, .id = SAMPLE_NONE};
	atomic_fetch_add_explicit(&walk->scan->progress.files, 1, memory_order_relaxed);
	return 0;
}

static int add_name(struct tree *part, struct name_list *names, const char *name)
{
	const char *copy = arena_text(&part->names, name);
	return copy ? name_list_add(names, copy) : -ENOMEM;
}

static int add_unseen(struct tree *part, const char *path)
{
	return add_name(part, &part->unseen, path);
}

static int add_unreadable(struct tree *part, const char *path, int error)
{
	issue_add(&part->issues, ISSUE_UNREADABLE, path, error);
	return add_unseen(part, path);
}

/* Tells whether the link leads to `dir` or a directory above it. */
static bool leads_back(const struct dir *dir, const struct looked *target)
{
	for (; dir; dir = dir->parent)
		if (dir->device == target->device && dir->inode == target->inode)
			return true;
	return false;
}

/* Returns false for a link that must not be followed, and adds it as an issue. */
static bool allowed_link(struct walk *walk, struct tree *part, const struct dir *dir,
	const struct entry *entry)
{
	if (!entry->link)
		return true;
	if (S_ISDIR(entry->looked.mode) &&
		(dir->links == MAX_LINKED_DIRECTORIES || leads_back(dir, &entry->looked)))
		issue_add(&part->issues, ISSUE_LOOP, entry->path, 0);
	else if (!scan_inside(walk->scan, entry->path))
		issue_add(&part->issues, ISSUE_OUTSIDE, entry->path, 0);
	else
		return true;
	return false;
}

/* Skips the mount point of this daemon. Notes the mount point of another daemon as unseen, because
 * the samples there may still exist. */
static int visit_mount(struct walk *walk, struct tree *part, const struct entry *entry)
{
	if (own_mounts_is_point(&walk->scan->own_mounts, &entry->looked))
		return 0;
	issue_add(&part->issues, ISSUE_MOUNT, entry->path, 0);
	return add_unseen(part, entry->path);
}

static bool is_mount(const struct walk *walk, const struct entry *entry)
{
	return own_mounts_have(&walk->scan->own_mounts, entry->looked.device) ||
	       own_mounts_is_point(&walk->scan->own_mounts, &entry->looked);
}

static int visit_directory(struct walk *walk, struct tree *part, const struct dir *dir,
	const struct entry *entry)
{
	if (!allowed_link(walk, part, dir, entry))
		return 0;
	if (!dir->parent && add_name(part, &part->classes, entry->name) < 0)
		return -ENOMEM;
	struct dir *child = dir_new(part, dir, entry->path, dir->links + entry->link);
	if (!child)
		return -ENOMEM;
	push_dir(walk, child);
	return 0;
}

static int list_other(
	struct tree *part, const char *path, uint64_t bytes, int64_t mtime_ns)
{
	const char *copy = arena_text(&part->names, path);
	if (!copy ||
		!array_make_room(part->others, part->n_others, &part->others_capacity))
		return -ENOMEM;
	part->others[part->n_others++] = (struct found){
		.path = copy, .facts = {.bytes = bytes, .mtime_ns = mtime_ns}};
	return 0;
}

/* Adds a file that is not a sample, provided that the dataset shows such files, or that the file
 * may lie beside a sample. */
static int add_other(struct walk *walk, struct tree *part, const struct dir *dir,
	const struct entry *entry)
{
	bool shown = walk->scan->shows_others, beside = beside_wanted(entry->path);
	char path[PATH_MAX];
	struct stat st;
	if ((!shown && !beside) || !allowed_link(walk, part, dir, entry))
		return 0;
	int err = scan_path(walk->scan, entry->path, path, sizeof(path));
	if (!err && stat(path, &st) < 0)
		err = -errno;
	if (err) {
		issue_add(&part->issues, ISSUE_UNREADABLE, entry->path, err);
		return 0;
	}
	const struct beside facts = {
		.bytes = (uint64_t)st.st_size, .mtime_ns = timespec_ns(st.st_mtim)};
	if (shown)
		err = list_other(part, entry->path, facts.bytes, facts.mtime_ns);
	if (!err && beside)
		err = beside_add(&part->beside, &part->names, entry->path, &facts);
	return err;
}

static int visit_file(struct walk *walk, struct tree *part, const struct dir *dir,
	const struct entry *entry)
{
	if (dir->parent && metadata_name(entry->name) &&
		add_name(part, &part->metadata, entry->path) < 0)
		return -ENOMEM;
	if (!wanted_name(walk->scan->extensions, entry->name))
		return add_other(walk, part, dir, entry);
	if (!dir->parent && walk->scan->label != LABEL_WITHOUT) {
		part->root_files++;
		return 0;
	}
	if (!allowed_link(walk, part, dir, entry))
		return 0;
	return add_file(walk, part, entry);
}

/* Examines an entry; if it is a link, the link's target. If d_type says that the entry is a regular
 * file, makes no system call. */
static int look_at_entry(int fd, const struct dirent *dirent, struct entry *entry)
{
	const char *name = dirent->d_name;
	struct looked *looked = &entry->looked;
	*looked = (struct looked){.mode = DTTOIF(dirent->d_type)};
	if (dirent->d_type == DT_REG)
		return 0;
	int err = looked_at(fd, name, AT_SYMLINK_NOFOLLOW, looked);
	entry->link = !err && S_ISLNK(looked->mode);
	return entry->link ? looked_at(fd, name, 0, looked) : err;
}

/* Handles an entry that can't be examined. If links may leave the tree, a link without a target is
 * noted as unseen: the target's mount may be missing, and the sample may still exist. */
static int visit_unknown(
	struct walk *walk, struct tree *part, const struct entry *entry, int error)
{
	bool dangling = entry->link && (error == -ENOENT || error == -ENOTDIR);
	if (error == -ELOOP)
		issue_add(&part->issues, ISSUE_LOOP, entry->path, 0);
	else if (dangling)
		issue_add(&part->issues, ISSUE_DANGLING, entry->path, error);
	else
		return add_unreadable(part, entry->path, error);
	return dangling && walk->scan->follow_outside ? add_unseen(part, entry->path) : 0;
}

static int visit(struct walk *walk, struct tree *part, const struct dir *dir, int fd,
	const struct dirent *dirent)
{
	struct entry entry = {.name = dirent->d_name};
	if (hidden_name(dirent->d_name, strlen(dirent->d_name)))
		return 0;
	int n = snprintf(entry.path, sizeof(entry.path), "%s%s%s", dir->path,
		dir->parent ? "/" : "", dirent->d_name);
	int err = (size_t)n < sizeof(entry.path) ? 0 : -ENAMETOOLONG;
	if (!err)
		err = look_at_entry(fd, dirent, &entry);
	if (err)
		return visit_unknown(walk, part, &entry, err);
	if (is_mount(walk, &entry))
		return visit_mount(walk, part, &entry);
	if (S_ISDIR(entry.looked.mode))
		return visit_directory(walk, part, dir, &entry);
	else if (S_ISREG(entry.looked.mode))
		return visit_file(walk, part, dir, &entry);
	return 0;
}

static int open_dir(struct walk *walk, struct dir *dir, DIR **ret)
{
	char path[PATH_MAX];
	struct stat stat;
	int err = fault_hit("dataset.list");
	if (!err)
		err = scan_path(walk->scan, dir->path, path, sizeof(path));
	if (!err && (!(*ret = opendir(path)) || fstat(dirfd(*ret), &stat) < 0))
		err = -errno;
	if (err)
		return err;
	dir->device = stat.st_dev;
	dir->inode = stat.st_ino;
	return 0;
}

static int visit_all(
	struct walk *walk, struct tree *part, const struct dir *dir, DIR *stream)
{
	const struct dirent *dirent;
	size_t n = 0;
	int err = 0;
	while (!err && (errno = 0, dirent = readdir(stream))) {
		n += strcmp(dirent->d_name, ".") != 0 &&
		     strcmp(dirent->d_name, "..") != 0;
		err = visit(walk, part, dir, dirfd(stream), dirent);
		if (scan_stopped(walk->scan))
			err = -EINTR;
		progress_tick(&walk->scan->progress);
	}
	if (!err && errno)
		return add_unreadable(part, dir->path, -errno);
	return !err && n == 0 ? add_unseen(part, dir->path) : err;
}

/* An unreadable directory becomes an issue, and the walk goes on. */
static int list_dir(struct walk *walk, struct tree *part, struct dir *dir)
{
	DIR *stream = NULL;
	int err = open_dir(walk, dir, &stream);
	if (!err)
		err = visit_all(walk, part, dir, stream);
	else if (err != -ENOMEM && err != -EMFILE && err != -ENFILE)
		err = add_unreadable(part, dir->path, err);
	if (stream)
		closedir(stream);
	return err;
}

static void work(void *context, unsigned worker)
{
	struct walk *walk = context;
	struct dir *dir;
	while ((dir = take_dir(walk)))
		finish_dir(walk, list_dir(walk, &walk->parts[worker], dir));
}

/* Appends the array `part` to the array at `items`. Returns false if there is no memory. */
static bool join(
	void *items, size_t *n, const void *part, size_t n_part, size_t item_bytes)
{
	void *now;
	memcpy(&now, items, sizeof(now));
	char *grown = reallocarray(now, *n + n_part + 1, item_bytes);
	if (!grown)
		return false;
	memcpy(items, &grown, sizeof(grown));
	if (n_part)
		memcpy(grown + *n * item_bytes, part, n_part * item_bytes);
	*n += n_part;
	return true;
}

static bool join_names(struct name_list *names, const struct name_list *part)
{
	return join(&names->name, &names->n, part->name, part->n, sizeof(*part->name));
}

/* Returns false if there is no memory. */
static bool join_part(struct tree *tree, struct tree *part)
{
	tree->root_files += part->root_files;
	issues_join(&tree->issues, &part->issues);
	arena_join(&tree->names, &part->names);
	return join(&tree->files, &tree->n_files, part->files, part->n_files,
		       sizeof(*part->files)) &&
	       join(&tree->others, &tree->n_others, part->others, part->n_others,
		       sizeof(*part->others)) &&
	       join(&tree->beside.of, &tree->beside.n, part->beside.of, part->beside.n,
		       sizeof(*part->beside.of)) &&
	       join_names(&tree->classes, &part->classes) &&
	       join_names(&tree->unseen, &part->unseen) &&
	       join_names(&tree->metadata, &part->metadata);
}

static int join_parts(struct walk *walk, struct tree *ret)
{
	unsigned threads = walk->scan->threads;
	int err = 0;
	for (unsigned i = 0; i < threads; i++)
		if (!join_part(ret, &walk->parts[i]))
			return -ENOMEM;
	files_sort(ret->files, ret->n_files, threads);
	files_sort(ret->others, ret->n_others, threads);
	name_list_sort(&ret->classes);
	beside_sort(&ret->beside);
	for (size_t i = 0; !err && i < ret->n_files; i++)
		err = beside_find(&ret->beside, &ret->names, ret->files[i].path,
			&ret->files[i].beside);
	free(ret->beside.of);
	ret->beside = (struct beside_files){0};
	return err;
}

static int walk_tree(struct scan *scan, struct tree *ret)
{
	auto_free struct tree *parts = calloc(scan->threads, sizeof(*parts));
	struct walk walk = {.scan = scan, .parts = parts};
	*ret = (struct tree){0};
	walk.stack = parts ? dir_new(&parts[0], NULL, "", 0) : NULL;
	if (!walk.stack)
		return -ENOMEM;
	lock_init(&walk.lock, LOCK_RANK_DATASET, "dataset walk");
	ensure(pthread_cond_init(&walk.wake, NULL) == 0);
	parallel_run(scan->threads, work, &walk);
	int err = walk.error;
	if (!err)
		err = join_parts(&walk, ret);
	for (unsigned i = 0; i < scan->threads; i++)
		tree_free(&parts[i]);
	pthread_cond_destroy(&walk.wake);
	lock_destroy(&walk.lock);
	if (err)
		tree_free(ret);
	return err;
}

/* Stores in scan->settings a hash of the files that are no samples. If these files change, the
 * settings change, and so the catalogue is written again. */
static int note_others(struct scan *scan, const struct tree *tree)
{
	auto_free char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < tree->n_others; i++)
		fprintf(out, "%s\n%" PRIu64 " %" PRId64 "\n", tree->others[i].path,
			tree->others[i].facts.bytes, tree->others[i].facts.mtime_ns);
	if (fclose(out) != 0)
		return -ENOMEM;
	free(scan->settings);
	scan->settings =
		aprintf("others %zu %016" PRIx64, tree->n_others, text_hash(text, size));
	return scan->settings ? 0 : -ENOMEM;
}

static int list(struct scan *scan, const struct catalogue *catalogue, struct tree *ret)
{
	(void)catalogue;
	int err = walk_tree(scan, ret);
	return !err && scan->shows_others ? note_others(scan, ret) : err;
}

static bool examine(struct scan *scan, struct found *found, const struct row *old,
	struct issues *issues)
{
	struct facts *facts = &found->facts;
	char path[PATH_MAX];
	struct stat stat_;
	int err = scan_path(scan, found->path, path, sizeof(path));
	if (!err && stat(path, &stat_) < 0)
		err = -errno;
	found->unseen = err && err != -ENOENT;
	if (found->unseen)
		issue_add(issues, ISSUE_UNREADABLE, found->path, err);
	if (err || !S_ISREG(stat_.st_mode))
		return false;
	if (own_mounts_have(&scan->own_mounts, stat_.st_dev)) {
		issue_add(issues, ISSUE_MOUNT, found->path, 0);
		found->unseen = true;
		return false;
	}
	*facts = (struct facts){
		.bytes = (uint64_t)stat_.st_size, .mtime_ns = timespec_ns(stat_.st_mtim)};
	if (row_is_current(old, facts)) {
		*facts = old->facts;
	} else {
		err = probe_header(path, &facts->image, &facts->orientation);
		facts->probed = !err;
		atomic_fetch_add_explicit(
			&scan->progress.headers, 1, memory_order_relaxed);
	}
	if (!facts->image.width || !facts->image.height)
		issue_add(issues, ISSUE_HEADER, found->path, err);
	return true;
}

static int find(struct scan *scan)
{
	const char *root = scan->root[0] ? scan->root : "/";
	auto_close int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_free char *real = fd < 0 ? NULL : realpath(root, NULL);
	if (!real)
		return -errno;
	scan->real = root_of_path(real);
	return scan->real ? 0 : -ENOMEM;
}

const struct source source_directory = {
	.name = "directory",
	.expected = "expected a directory per class with images in it: <class>/<file>",
	.find = find,
	.list = list,
	.examine = examine,
};
