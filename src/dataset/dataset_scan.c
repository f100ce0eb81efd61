// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_internal.h"
#include "base/clock.h"
#include "far/far.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int scan_path(const struct scan *scan, const char *relative, char *ret, size_t size)
{
	int n = snprintf(ret, size, "%s/%s", scan->root, relative);
	return (size_t)n < size ? 0 : -ENAMETOOLONG;
}

int scan_beside(const char *beside, const char *name, char *ret, size_t size)
{
	int n = far_is(name) ? snprintf(ret, size, "%s", name)
			     : snprintf(ret, size, "%s/%s", beside, name);
	return (size_t)n < size ? 0 : -ENAMETOOLONG;
}

bool scan_stopped(const struct scan *scan)
{
	return scan->stop && atomic_load_explicit(scan->stop, memory_order_relaxed);
}

bool scan_inside(const struct scan *scan, const char *relative)
{
	char path[PATH_MAX];
	if (scan->follow_outside)
		return true;
	if (scan_path(scan, relative, path, sizeof(path)) < 0)
		return false;
	auto_free char *target = realpath(path, NULL);
	size_t n = strlen(scan->real);
	return target && strncmp(target, scan->real, n) == 0 &&
	       (target[n] == '/' || target[n] == '\0');
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct row *rows = context;
	return path_compare(
		rows[*(const sample_id *)a].path, rows[*(const sample_id *)b].path);
}

/* Sorts the catalogue's rows, to compare them with the tree's sorted files. */
int scan_match(const struct catalogue *catalogue, struct tree *tree)
{
	size_t n = catalogue->n_rows;
	sample_id *known = calloc(n + 1, sizeof(*known));
	if (!known)
		return -ENOMEM;
	for (size_t id = 0; id < n; id++)
		known[id] = (sample_id)id;
	qsort_r(known, n, sizeof(*known), compare_rows, catalogue->rows);
	for (size_t i = 0, k = 0; i < tree->n_files && k < n;) {
		int order =
			path_compare(tree->files[i].path, catalogue->rows[known[k]].path);
		if (order == 0)
			tree->files[i].id = known[k];
		i += order <= 0;
		k += order >= 0;
	}
	free(known);
	return 0;
}

bool row_is_current(const struct row *row, const struct facts *facts)
{
	return row && row->facts.probed && row->facts.bytes == facts->bytes &&
	       row->facts.mtime_ns == facts->mtime_ns;
}

struct examination {
	struct scan *scan;
	struct tree *tree;
	const struct catalogue *catalogue;
	struct issues *issues; /* one per thread */
	atomic_size_t next;
};

#define BATCH 32

/* Returns false if the file is not regular, no longer exists, or can't be examined. */
static bool examine_file(struct examination *examination, struct found *found,
	const struct row *old, struct issues *issues)
{
	struct scan *scan = examination->scan;
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

static void examine_next(
	struct examination *examination, struct found *found, struct issues *issues)
{
	const struct row *old = NULL;
	if (found->id != SAMPLE_NONE)
		old = &examination->catalogue->rows[found->id];
	found->present = examine_file(examination, found, old, issues);
	progress_tick(&examination->scan->progress);
}

static void examine_some(void *context, unsigned worker)
{
	struct examination *examination = context;
	struct tree *tree = examination->tree;
	struct issues *issues = &examination->issues[worker];
	size_t begin;
	while ((begin = atomic_fetch_add(&examination->next, BATCH)) < tree->n_files) {
		size_t end = begin + BATCH;
		for (size_t i = begin; i < end && i < tree->n_files; i++) {
			if (scan_stopped(examination->scan))
				return;
			examine_next(examination, &tree->files[i], issues);
		}
	}
}

#define FIRST_FILES 8
#define SLOW_NS UINT64_C(2000000)

/* Examines the first FIRST_FILES files. Returns the number of threads for the remaining files:
 * SCAN_FAR_THREADS if the storage was slow, otherwise scan->threads. A scan with a single thread
 * gets no others. */
static unsigned examine_first(struct examination *examination)
{
	const struct scan *scan = examination->scan;
	struct tree *tree = examination->tree;
	uint64_t begin_ns = clock_now_ns();
	size_t n = 0;
	for (; n < FIRST_FILES && n < tree->n_files && !scan_stopped(scan); n++)
		examine_next(examination, &tree->files[n], &examination->issues[0]);
	examination->next = n;
	bool slow = clock_now_ns() - begin_ns > n * SLOW_NS;
	return slow && scan->threads > 1 && scan->threads < SCAN_FAR_THREADS
		       ? SCAN_FAR_THREADS
		       : scan->threads;
}

int scan_examine(struct scan *scan, struct tree *tree, const struct catalogue *catalogue)
{
	struct examination examination = {scan, tree, catalogue, NULL, 0};
	unsigned most = scan->threads + SCAN_FAR_THREADS;
	examination.issues = calloc(most, sizeof(*examination.issues));
	if (!examination.issues)
		return -ENOMEM;
	parallel_run(examine_first(&examination), examine_some, &examination);
	for (unsigned i = 0; i < most; i++)
		issues_join(&tree->issues, &examination.issues[i]);
	free(examination.issues);
	return scan_stopped(scan) ? -EINTR : 0;
}

/* Returns tree->unseen's entry for `path` or a directory above it (the root is ""), or NULL. */
static const char *find_unseen(const struct tree *tree, const char *path)
{
	char above[PATH_MAX];
	size_t n = strlen(path);
	if (n >= sizeof(above))
		return NULL;
	memcpy(above, path, n + 1);
	for (;;) {
		const char *found = name_list_find(&tree->unseen, above);
		if (found || above[0] == '\0')
			return found;
		char *slash = strrchr(above, '/');
		*(slash ? slash : above) = '\0';
	}
}

const char *scan_unseen(
	struct tree *tree, const struct catalogue *catalogue, const char **ret_sample)
{
	for (size_t i = 0; i < tree->n_files; i++) {
		const struct found *found = &tree->files[i];
		*ret_sample = found->path;
		if (found->unseen && found->id != SAMPLE_NONE &&
			!catalogue->rows[found->id].gone)
			return found->path;
	}
	if (tree->unseen.n == 0)
		return NULL;
	name_list_sort(&tree->unseen);
	for (size_t id = 0; id < catalogue->n_rows; id++) {
		const struct row *row = &catalogue->rows[id];
		const char *found = row->gone ? NULL : find_unseen(tree, row->path);
		*ret_sample = row->path;
		if (found)
			return found;
	}
	return NULL;
}
