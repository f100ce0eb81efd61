// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "files/files.h"
#include "files/inode.h"

#include <stdatomic.h>

struct sched_job;

/*
 * Printed texts, which are kept while readers use them. Readers can share the texts stats,
 * stats.json, metrics and dashboard.html, which take long to print if there are many jobs. The
 * first three are printed for each reader as long as this takes less than a twentieth of a CPU's
 * time; otherwise at most once a second. The dashboard is always printed at most once a second.
 *
 *   Flow: main makes the struct made_texts; threads of fuse and web, and workers, take and put
 *         back texts.
 *   Threads: any. FUSE's threads leave the dashboard to workers, because it takes long to print.
 *   Locks: one, in made_text.c, not held while a text is printed.
 */

struct made_text {
	char *text;
	size_t bytes;
	/* private to made_text.c: */
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

/* Takes a shared text, or prints a new one. old_is_enough: the text may be a second old,
 * because the caller needs only its length. Returns 0 or -errno. */
must_check int made_texts_take(const struct files_context *context, enum made_kind kind,
	bool old_is_enough, struct made_text **ret);
/* Takes the text of a file for which text_is is true, except orders (INODE_EPOCH_ORDER). Returns 0
 * or -errno. */
must_check int made_texts_take_file(const struct files_context *context,
	struct inode inode, bool old_is_enough, struct made_text **ret);
/* Prints the .json or other text of a sample (inode_is_text_of_sample). Returns 0 or -errno. */
must_check int made_text_of_sample(struct sched_job *job, enum inode_kind kind,
	uint32_t epoch, sample_id sample, struct made_text **ret);

/* Begins a text, which the caller prints to (*ret)->out. Returns 0 or -ENOMEM. */
must_check int made_text_begin(struct made_text **ret);
/* Ends the printing of a text. err: the error of the printing, or 0. Returns `err`, or -ENOMEM if
 * writing to `out` failed. After an error the text is freed. */
must_check int made_text_end(struct made_text **text, int err);

void made_text_put(struct made_text **text);
