// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/files.h"
#include "files/inode.h"

#include <stdatomic.h>

/*
 * Printed texts, which are kept while readers use them. All readers share the texts of the daemon:
 * stats, stats.json, metrics and dashboard.html take long to make with many jobs. A text of
 * counters is made anew for each reader as long as that takes less than a twentieth of a CPU's
 * time, and else once a second. The page is made at most once a second.
 *
 *   Flow: main makes the daemon's; fuse's workers and web's thread take a text, and put it back.
 *   Threads: any but those of FUSE, which would wait until the text is printed.   Locks: one, in
 *            made_text.c, which nobody holds while a text is printed.
 */

struct made_text {
	char *text;
	size_t bytes;
	/* private to made_text.c */
	FILE *out;
	uint64_t begun_ns;
	atomic_uint references;
};

enum made_kind {
	MADE_STATS,
	MADE_STATS_JSON,
	MADE_METRICS,
	MADE_OPENMETRICS,
	MADE_DASHBOARD,
	MADE_KINDS,
};

struct made_texts;

must_check int made_texts_new(struct made_texts **ret);
void made_texts_free(struct made_texts **texts);

/* Takes a text of the daemon. latest: the caller needs only its length, so the text may be a second
 * old. -errno */
must_check int made_texts_take(const struct files_context *context, enum made_kind kind,
	bool latest, struct made_text **ret);
/* Takes the text of a file, for which text_is is true. -errno */
must_check int made_texts_take_file(const struct files_context *context,
	struct inode inode, bool latest, struct made_text **ret);

/* Begins a text, which the caller prints to ret->out. -ENOMEM */
must_check int made_text_begin(struct made_text **ret);
/* Ends a text. err: the error of printing it, or 0; an error frees the text, and is returned. */
must_check int made_text_end(struct made_text **text, int err);

void made_text_hold(struct made_text *text);
void made_text_put(struct made_text **text);
