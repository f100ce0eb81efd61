// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "dataset/source.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

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
	auto_free sample_id *known = calloc(n + 1, sizeof(*known));
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
	/* The manifest has not changed since the last scan, so the catalogue's facts are used. */
	bool as_it_was;
	atomic_size_t next;
};

#define BATCH 32 /* local files that a thread takes at once */

static void examine_next(
	struct examination *examination, struct found *found, struct issues *issues)
{
	struct scan *scan = examination->scan;
	const struct row *old = NULL;
	if (found->id != SAMPLE_NONE)
		old = &examination->catalogue->rows[found->id];
	found->present = examination->as_it_was && old && !old->gone && old->facts.probed;
	if (found->present)
		found->facts = old->facts;
	else
		found->present = scan->source->examine(scan, found, old, issues);
	progress_tick(&scan->progress);
}

static void examine_some(void *context, unsigned worker)
{
	struct examination *examination = context;
	struct tree *tree = examination->tree;
	struct issues *issues = &examination->issues[worker];
	size_t begin, batch = examination->scan->far ? 1 : BATCH;
	while ((begin = atomic_fetch_add(&examination->next, batch)) < tree->n_files)
		for (size_t i = begin; i < begin + batch && i < tree->n_files; i++) {
			if (scan_stopped(examination->scan))
				return;
			examine_next(examination, &tree->files[i], issues);
		}
}

#define FIRST_FILES 8
#define SLOW_NS UINT64_C(2000000)

/* Examines the first FIRST_FILES files, unless they are remote. Returns the number of threads for
 * the remaining files: SCAN_FAR_THREADS if the storage was slow, otherwise scan->threads. A scan
 * with a single thread gets no others. */
static unsigned examine_first(struct examination *examination)
{
	const struct scan *scan = examination->scan;
	struct tree *tree = examination->tree;
	uint64_t begin_ns = clock_now_ns();
	size_t n = 0, first = scan->far ? 0 : FIRST_FILES;
	for (; n < first && n < tree->n_files && !scan_stopped(scan); n++)
		examine_next(examination, &tree->files[n], &examination->issues[0]);
	examination->next = n;
	bool slow = clock_now_ns() - begin_ns > n * SLOW_NS;
	return slow && scan->threads > 1 && scan->threads < SCAN_FAR_THREADS
		       ? SCAN_FAR_THREADS
		       : scan->threads;
}

int scan_examine(struct scan *scan, struct tree *tree, const struct catalogue *catalogue)
{
	unsigned most = scan->threads + SCAN_FAR_THREADS;
	auto_free struct issues *issues = calloc(most, sizeof(*issues));
	struct examination examination = {.scan = scan,
		.tree = tree,
		.catalogue = catalogue,
		.issues = issues,
		.as_it_was = scan->n_containers == 1 && catalogue->n_containers == 1 &&
			     container_equal(scan->containers, catalogue->containers)};
	if (!issues)
		return -ENOMEM;
	parallel_run(examine_first(&examination), examine_some, &examination);
	for (unsigned i = 0; i < most; i++)
		issues_join(&tree->issues, &issues[i]);
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
