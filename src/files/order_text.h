// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stdint.h>
#include <sys/types.h>

/*
 * Reads a text that grows at its end, and that is too long to keep: each read renders the lines
 * again. The offset of every ORDER_CHUNK-th line is remembered, so that a read renders little more
 * than it returns.
 *
 *   Flow: a read finds the last remembered start of a chunk before its offset, measures chunks up
 *         to the one with the offset, and renders from there. Each complete chunk determines the
 *         start of the next one.
 *   Owns: the remembered starts of all texts.   Errors: -ENOMEM.
 *   Threads: any. Lines are rendered without the lock.
 */

#define ORDER_CHUNK 256 /* lines in a chunk */

struct order_texts;

/* The source of the lines, which never change. `print` prints n lines from number
 * `first` on, or fewer at the text's end, and returns their number. */
struct order_source {
	uint64_t key; /* identifies the text */
	uint32_t (*print)(void *context, uint32_t first, uint32_t n, FILE *out);
	/* Adds to *ret_bytes the length of the lines that `print` would print, and returns the
	 * number of these lines. Measuring is much cheaper than rendering. */
	uint32_t (*measure)(
		void *context, uint32_t first, uint32_t n, uint64_t *ret_bytes);
	void *context;
};

must_check int order_texts_new(struct order_texts **ret);
void order_texts_free(struct order_texts **texts);

/* Forgets the remembered starts, because an epoch of a job may have another order now. */
void order_texts_forget(struct order_texts *texts);

/* Reads at most `size` bytes. Returns their number, 0 at the text's present end, or -ENOMEM. */
must_check ssize_t order_text_read(struct order_texts *texts,
	const struct order_source *source, uint64_t offset, char *buffer, size_t size);

/* Returns the present size. Measures at most `max_chunks` new chunks, so the size of a long text
 * that was never read is too small at first, and grows with each call. */
uint64_t order_text_size(struct order_texts *texts, const struct order_source *source,
	unsigned max_chunks);

/* Returns the last remembered start of the text: the size of the complete chunks that were measured
 * so far. Measures no chunk. */
uint64_t order_text_known_size(struct order_texts *texts, uint64_t key);
