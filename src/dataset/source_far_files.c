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

/* Copies the size and mtime of found->facts to window->object. If the listing has not given the
 * mtime, asks the server instead, and stores the server's size and mtime in found->facts and in
 * window->object. Returns false after an error, which becomes an issue. */
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

bool far_file_examine(struct scan *scan, struct found *found, const struct row *old,
	struct issues *issues)
{
	char url[PATH_MAX];
	struct far_window window = {.object = {.url = url}, .denied = &scan->denied};
	if (far_file_url(scan->beside, scan->labelled, found->path, url, sizeof(url),
		    &window.object.plain) != 0)
		return false;
	bool seen = look_at(&window, found, issues);
	if (seen && row_is_current(old, &found->facts))
		found->facts = old->facts;
	else if (seen)
		examine_header(&window, found, issues);
	free(window.data);
	atomic_fetch_add_explicit(&scan->progress.headers, 1, memory_order_relaxed);
	return seen;
}
