// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdint.h>
#include <sys/types.h>

/*
 * Reads a text that grows by lines at its end, and whose lines are too many to keep: they
 * are rendered again whenever they are read. Only where every ORDER_CHUNK-th line starts
 * is remembered, so that a read at any offset renders little more than it returns.
 *
 *   Flow: a read finds the last known start before its offset, measures chunks from there
 *         up to the one it begins in, and renders from that; whole chunks tell where the
 *         next one starts.
 *   Owns: the known starts of all texts.
 *   Threads: any. Lines are rendered without the lock.
 *   Errors: -ENOMEM.
 */

#define ORDER_CHUNK 256 /* lines */

struct order_texts;

/*
 * Where the lines come from: prints n lines from number `first` on, fewer if there are
 * not so many yet, and returns how many. A line once printed never changes.
 */
struct order_source {
	uint64_t key; /* of the text */
	uint32_t (*print)(void *context, uint32_t first, uint32_t n, FILE *out);
	/* Only how many bytes that is: far cheaper. */
	uint32_t (*measure)(
		void *context, uint32_t first, uint32_t n, uint64_t *ret_bytes);
	void *context;
};

must_check int order_texts_new(struct order_texts **ret);
void order_texts_free(struct order_texts **texts);

/* The texts behind the keys may be other ones from now on. */
void order_texts_forget(struct order_texts *texts);

/* Bytes read, 0 at the end of what there is so far. */
must_check ssize_t order_text_read(struct order_texts *texts,
	const struct order_source *source, uint64_t offset, char *buffer, size_t size);

/*
 * The size so far. At most `max_chunks` that are not known yet are measured for it: the
 * answer for a long text that nobody has read is too small at first and grows.
 */
uint64_t order_text_size(struct order_texts *texts, const struct order_source *source,
	unsigned max_chunks);

/* As far as it is known already: nothing is measured. */
uint64_t order_text_known_size(struct order_texts *texts, uint64_t key);
