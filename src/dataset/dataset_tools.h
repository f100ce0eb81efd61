// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/array_grow.h"
#include "base/cleanup.h"
#include "base/work.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Tools of scans and catalogues: memory, names in messages, threads, progress, issues.
 *
 *   Threads: one at a time for issues and arenas; any for progress_tick.
 *   Errors: NULL: no memory.
 */

/* Memory for names and directories, freed all at once. */
struct arena {
	struct arena_block *blocks;
	size_t left; /* free bytes in the first block */
};

void *arena_alloc(struct arena *arena, size_t bytes); /* NULL: no memory */
char *arena_text(struct arena *arena, const char *text);
/* Copies the first n bytes of the text, and appends a NUL. */
char *arena_span(struct arena *arena, const char *text, size_t n);
void arena_join(struct arena *into, struct arena *from);
void arena_free(struct arena *arena);

/* Frees the memory after the first n elements if n is a multiple of 65536. Otherwise does nothing,
 * so that a caller may remove elements one by one and call this each time. Returns the array, which
 * may have moved. */
void *array_shrink(void *items, size_t n, size_t item_bytes);

/* A file name for messages: control characters are escaped, and long names are cut. */
struct quoted {
	char text[400];
};
const char *quote_name(struct quoted *quoted, const char *name);

/* Tells whether one of n names equals `name`. Ignores case. */
bool names_have(const char *const *names, size_t n, const char *name);
/* Removes slashes at the end. The caller frees the result; NULL: no memory. */
char *root_of_path(const char *path);
const char *base_name(const char *path);  /* the part after the last slash */
size_t directory_bytes(const char *path); /* bytes before the last slash; 0: none */
/* Tells whether the first n bytes of `span` equal the whole of `text`. None of these bytes may be
 * NUL. */
bool span_is(const char *span, size_t n, const char *text);
int compare_spans(const char *a, size_t a_length, const char *b, size_t b_length);

/* A number as text with commas, such as "1,234,567". */
struct grouped {
	char text[32];
};
const char *group_digits(struct grouped *grouped, uint64_t number);

/* Runs work(context, i) for each i < threads in its own thread (i = 0 in this one), and waits. A
 * thread that can't be created makes no call, so calls must take work from a common queue. */
void parallel_run(
	unsigned threads, void (*work)(void *context, unsigned worker), void *context);

/* A progress line on the terminal. It is rewritten at most five times a second. */
struct progress {
	struct work work;
	const char *name;
	bool shown;
	atomic_uint_fast64_t files;
	atomic_uint_fast64_t headers;
	atomic_uint_fast64_t next_ns;
};

void progress_begin(struct progress *progress, const char *name);
void progress_tick(struct progress *progress);
void progress_end(struct progress *progress);

/* Problems that a scan finds. Each kind is counted, and logged once with an example. */
enum issue_kind {
	ISSUE_OUTSIDE,
	ISSUE_DANGLING,
	ISSUE_LOOP,
	ISSUE_UNREADABLE,
	ISSUE_HEADER,
	ISSUE_LINK,
	ISSUE_LABEL,
	ISSUE_UNLABELLED,
	ISSUE_TWICE,
	ISSUE_REPLACED,
	ISSUE_METADATA,
	ISSUE_SIZE,
	ISSUE_MOUNT,
	N_ISSUES
};

struct issue {
	uint64_t count;
	int error;
	struct quoted example; /* first name in byte order; the order of finding varies */
};

struct issues {
	struct issue of[N_ISSUES];
};

void issue_add(struct issues *issues, enum issue_kind kind, const char *path, int error);
void issues_join(struct issues *into, const struct issues *from);
void issues_log(const struct issues *issues, const char *dataset);
