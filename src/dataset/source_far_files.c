// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/source_far.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum far_name far_name_of(const char *path)
{
	enum far_name kind = strlen(path) < PATH_MAX / 2 ? NAME_GOOD : NAME_ODD;
	for (const char *at = path;; at++) {
		size_t n = strcspn(at, "/");
		if (n == 0 || (n == 2 && strncmp(at, "..", 2) == 0))
			return NAME_LEADS_OUT;
		if (hidden_name(at, n) || n > NAME_MAX - 8)
			kind = NAME_ODD;
		at += n;
		if (!*at)
			return kind;
	}
}

int far_file_url(const char *beside, bool labelled, const char *relative, char *ret,
	size_t size, size_t *ret_plain)
{
	const char *slash = labelled ? strchr(relative, '/') : NULL;
	int n = snprintf(ret, size, "%s/%s", beside, slash ? slash + 1 : relative);
	*ret_plain = strlen(beside) + 1;
	return (size_t)n < size ? 0 : -ENAMETOOLONG;
}

int far_files_list(struct scan *scan, const struct catalogue *catalogue, struct tree *ret)
{
	(void)catalogue;
	return listings_join(scan, scan->listed, 1, ret);
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

static ssize_t read_window(void *context, void *ret, size_t bytes, uint64_t offset)
{
	return far_window_read(context, ret, bytes, offset);
}

static void examine_header(
	struct far_window *window, struct found *found, struct issues *issues)
{
	struct facts *facts = &found->facts;
	const struct source_part whole = {.stored_bytes = facts->bytes};
	int err = probe_part(read_window, window, &whole, facts->bytes, &facts->image,
		&facts->orientation);
	facts->probed = !err;
	if (!facts->image.width || !facts->image.height)
		issue_add(issues, ISSUE_HEADER, found->path, err);
}

/* Sets the size and mtime of the object in found->facts. If the listing has not given the mtime,
 * gets both from the server. Returns false after an error. */
static bool look_at(struct far_window *window, struct found *found, struct issues *issues)
{
	struct facts *facts = &found->facts;
	if (facts->mtime_ns != FAR_ANY_VERSION) {
		window->object.bytes = facts->bytes;
		window->object.mtime_ns = facts->mtime_ns;
		return true;
	}
	int err = far_window_look(window);
	if (err) {
		found->unseen = err != -ENOENT;
		issue_add(issues, ISSUE_UNREADABLE, found->path, err);
		return false;
	}
	if (facts->bytes != UINT64_MAX && facts->bytes != window->object.bytes)
		issue_add(issues, ISSUE_SIZE, found->path, 0);
	facts->bytes = window->object.bytes;
	facts->mtime_ns = window->object.mtime_ns;
	return true;
}

static bool examine_file(struct examination *examination, struct found *found,
	const struct row *old, struct issues *issues)
{
	struct scan *scan = examination->scan;
	char url[PATH_MAX];
	struct far_window window = {.object = {.url = url}, .denied = &scan->denied};
	if (examination->as_it_was && old && !old->gone && old->facts.probed) {
		found->facts = old->facts;
		return true;
	}
	if (far_file_url(scan->beside, scan->labelled, found->path, url, sizeof(url),
		    &window.object.plain) != 0)
		return false;
	bool seen = look_at(&window, found, issues);
	if (seen && row_is_current(old, &found->facts))
		found->facts = old->facts;
	else if (seen)
		examine_header(&window, found, issues);
	far_window_free(&window);
	atomic_fetch_add_explicit(&scan->progress.headers, 1, memory_order_relaxed);
	return seen;
}

static void examine_some(void *context, unsigned worker)
{
	struct examination *examination = context;
	struct tree *tree = examination->tree;
	size_t i;
	while ((i = atomic_fetch_add(&examination->next, 1)) < tree->n_files &&
		!scan_stopped(examination->scan)) {
		struct found *found = &tree->files[i];
		const struct row *old = NULL;
		if (found->id != SAMPLE_NONE)
			old = &examination->catalogue->rows[found->id];
		found->present = examine_file(
			examination, found, old, &examination->issues[worker]);
		progress_tick(&examination->scan->progress);
	}
}

int far_files_examine(
	struct scan *scan, struct tree *tree, const struct catalogue *catalogue)
{
	struct examination examination = {.scan = scan,
		.tree = tree,
		.catalogue = catalogue,
		.as_it_was = scan->n_containers == 1 && catalogue->n_containers == 1 &&
			     container_equal(scan->containers, catalogue->containers)};
	examination.issues = calloc(scan->threads, sizeof(*examination.issues));
	if (!examination.issues)
		return -ENOMEM;
	parallel_run(scan->threads, examine_some, &examination);
	for (unsigned i = 0; i < scan->threads; i++)
		issues_join(&tree->issues, &examination.issues[i]);
	free(examination.issues);
	return scan_stopped(scan) ? -EINTR : 0;
}
