// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/log.h"
#include "dataset/dataset_internal.h"
#include "image/image.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INTERVAL_NS 200000000u

void progress_begin(struct progress *progress, const char *name)
{
	*progress = (struct progress){
		.name = name,
		.shown = isatty(STDERR_FILENO) == 1,
		.work.counts = {{"files", &progress->files},
			{"headers", &progress->headers}},
	};
	work_begin(&progress->work, "scanning", name);
}

static void write_terminal(const char *text, size_t n)
{
	ssize_t ignored = write(STDERR_FILENO, text, n);
	(void)ignored; /* fails if the terminal is gone */
}

/* Prints at most once per interval, even if several threads call this at a time. */
void progress_tick(struct progress *progress)
{
	if (!progress->shown)
		return;
	uint_fast64_t next = atomic_load(&progress->next_ns);
	uint64_t now = clock_now_ns();
	if (now < next || !atomic_compare_exchange_strong(
				  &progress->next_ns, &next, now + INTERVAL_NS))
		return;
	struct grouped files, headers;
	char line[256];
	int n = snprintf(line, sizeof(line),
		"\rscanning %.128s: %s files, %s headers\033[K", progress->name,
		group_digits(&files, atomic_load(&progress->files)),
		group_digits(&headers, atomic_load(&progress->headers)));
	write_terminal(line, (size_t)n);
}

void progress_end(struct progress *progress)
{
	static const char clear[] = "\r\033[K";
	if (progress->shown)
		write_terminal(clear, sizeof(clear) - 1);
	progress->shown = false;
	work_end(&progress->work);
}

static void issue_merge(struct issue *into, const struct issue *from)
{
	bool first = from->count &&
		     (!into->count || strcmp(from->example.text, into->example.text) < 0);
	uint64_t count = into->count + from->count;
	if (first)
		*into = *from;
	into->count = count;
}

void issue_add(struct issues *issues, enum issue_kind kind, const char *path, int error)
{
	struct issue issue = {.count = 1, .error = error};
	quote_name(&issue.example, path);
	issue_merge(&issues->of[kind], &issue);
}

void issues_join(struct issues *into, const struct issues *from)
{
	for (int i = 0; i < N_ISSUES; i++)
		issue_merge(&into->of[i], &from->of[i]);
}

/* Tells whether classes have names such as train: the root is probably one level too high. */
static bool looks_divided(const struct tree *tree)
{
	static const char *const parts[] = {"train", "training", "val", "valid",
		"validation", "dev", "test", "testing", "eval", "holdout"};
	size_t n = 0;
	for (size_t i = 0; i < tree->classes.n; i++)
		n += names_have(
			parts, sizeof(parts) / sizeof(*parts), tree->classes.name[i]);
	return n >= 2 || n == tree->classes.n;
}

/* Appends the name to a list with commas. A list that becomes too long is cut. */
static void append_name(char *list, size_t size, const char *name)
{
	size_t n = strlen(list);
	snprintf(list + n, size - n, "%s%s", n ? ", " : "", name);
}

/* Warns of directories without images, which are no classes. Both lists must be sorted. */
static void warn_of_empty(const struct scan *scan, const struct name_list *directories,
	const struct name_list *classes)
{
	char names[512] = "";
	size_t n = 0;
	for (size_t i = 0; i < directories->n; i++) {
		struct quoted name;
		if (!name_list_find(classes, directories->name[i]) && n++ < 8)
			append_name(names, sizeof(names),
				quote_name(&name, directories->name[i]));
	}
	if (n)
		log_warn("dataset %s: %zu directories have no image, so they are no "
			 "classes: %s%s",
			scan->name, n, names, n > 8 ? ", ..." : "");
}

/* The tree's files must be sorted by class. */
int tree_find_classes(const struct scan *scan, struct tree *tree)
{
	struct name_list classes = {0};
	int err = 0;
	if (scan->label == LABEL_WITHOUT) {
		tree->classes.n = 0;
		return name_list_add(&tree->classes, ONLY_CLASS);
	}
	if (scan->labelled)
		return 0;
	for (size_t i = 0; !err && i < tree->n_files; i++)
		if (tree->files[i].present)
			err = name_list_add_class(
				&classes, &tree->names, tree->files[i].path);
	if (!err)
		warn_of_empty(scan, &tree->classes, &classes);
	free(tree->classes.name);
	tree->classes = classes;
	return err;
}

void tree_warn(const struct scan *scan, const struct tree *tree)
{
	struct grouped files;
	char classes[100] = "";
	if (looks_divided(tree)) {
		for (size_t i = 0; i < tree->classes.n; i++)
			append_name(classes, sizeof(classes), tree->classes.name[i]);
		log_warn("dataset %s: its classes, %s, look like parts of a dataset; did "
			 "you mean path = %s/%s, with a [dataset NAME] for each part?",
			scan->name, classes, scan->root, tree->classes.name[0]);
	}
	if (tree->root_files)
		log_warn("dataset %s: %s images lie beside the class directories, in %s, "
			 "so they are no samples; a sample is <class>/<file>, or any "
			 "image with label = none",
			scan->name, group_digits(&files, tree->root_files), scan->root);
}

void issues_log(const struct issues *issues, const char *dataset)
{
	static const char *const texts[N_ISSUES] = {
		[ISSUE_OUTSIDE] = "symbolic links that leave the tree were skipped "
				  "(symlinks = follow allows them)",
		[ISSUE_DANGLING] = "symbolic links that lead nowhere were skipped",
		[ISSUE_LOOP] = "symbolic links that lead in a circle, or through more "
			       "than two linked directories, were skipped",
		[ISSUE_UNREADABLE] = "entries could not be read and were skipped",
		[ISSUE_HEADER] = "files have no readable image header; readers of their "
				 "samples get EIO",
		[ISSUE_LINK] = "symbolic links, and hard links to no file before "
			       "them, in containers were skipped",
		[ISSUE_LABEL] = "labels can't be names of classes: a name has 1 to 200 "
				"bytes, no / and no . at the beginning (label = none "
				"makes one class of all samples)",
		[ISSUE_UNLABELLED] = "images have no label and were skipped",
		[ISSUE_SIZE] = "files differ in size from the manifest; the files' own "
			       "sizes are used",
		[ISSUE_REPLACED] = "members occur again later in their container; the "
				   "last one counts",
		[ISSUE_METADATA] = "files of metadata were not read: a container or "
				   "bucket has its metadata beside it, not inside",
		[ISSUE_MOUNT] = "files and directories are mounts of joaderfs, and were "
				"skipped",
		[ISSUE_TWICE] = "images have the path of another one, and were skipped",
	};
	for (int i = 0; i < N_ISSUES; i++) {
		const struct issue *issue = &issues->of[i];
		if (issue->count)
			log_warn("dataset %s: %" PRIu64 " %s%s; the first: %s%s%s",
				dataset, issue->count, texts[i],
				i == ISSUE_HEADER ? image_lacking() : "",
				issue->example.text, issue->error ? ": " : "",
				issue->error ? strerror(-issue->error) : "");
	}
}
