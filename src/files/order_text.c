// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/order_text.h"
#include "base/array_grow.h"
#include "base/lock.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/queue.h>

struct known {
	SLIST_ENTRY(known) link;
	uint64_t key;
	uint64_t *starts; /* byte offsets of chunks 0, 1, ... */
	size_t n, capacity;
};

struct order_texts {
	struct lock lock;
	SLIST_HEAD(, known) known; /* (lock) */
	uint64_t generation; /* (lock) grows when order_texts_forget drops all starts */
};

/* The start of a chunk. generation: the value of order_texts.generation at the look-up. If
 * order_texts.generation is greater now, the start is not remembered, because the text may have
 * changed. */
struct cursor {
	size_t chunk;
	uint64_t byte;
	uint64_t generation;
};

struct chunk {
	char *text;
	size_t bytes;
	uint32_t lines;
};

int order_texts_new(struct order_texts **ret)
{
	struct order_texts *texts = calloc(1, sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	lock_init(&texts->lock, LOCK_RANK_FILES, "order_texts");
	SLIST_INIT(&texts->known);
	*ret = texts;
	return 0;
}

static void forget_locked(struct order_texts *texts)
{
	struct known *known;
	lock_assert_held(&texts->lock);
	while ((known = SLIST_FIRST(&texts->known))) {
		SLIST_REMOVE_HEAD(&texts->known, link);
		free(known->starts);
		free(known);
	}
	texts->generation++;
}

void order_texts_free(struct order_texts **texts)
{
	if (!*texts)
		return;
	lock_take(&(*texts)->lock);
	forget_locked(*texts);
	lock_release(&(*texts)->lock);
	lock_destroy(&(*texts)->lock);
	free(*texts);
	*texts = NULL;
}

void order_texts_forget(struct order_texts *texts)
{
	LOCK_SCOPE(&texts->lock);
	forget_locked(texts);
}

static struct known *find_locked(struct order_texts *texts, uint64_t key)
{
	struct known *known;
	lock_assert_held(&texts->lock);
	SLIST_FOREACH (known, &texts->known, link)
		if (known->key == key)
			return known;
	return NULL;
}

/* Finds the last chunk whose start is remembered and is not after the offset. Chunk 0
 * starts at 0, even if nothing is remembered. */
static struct cursor seek(struct order_texts *texts, uint64_t key, uint64_t offset)
{
	LOCK_SCOPE(&texts->lock);
	struct cursor cursor = {.generation = texts->generation};
	struct known *known = find_locked(texts, key);
	size_t low = 0, high = known ? known->n : 0;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (known->starts[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	cursor.chunk = low;
	cursor.byte = known ? known->starts[low] : 0;
	return cursor;
}

static struct known *get_locked(struct order_texts *texts, uint64_t key)
{
	lock_assert_held(&texts->lock);
	struct known *known = find_locked(texts, key);
	if (known)
		return known;
	known = calloc(1, sizeof(*known));
	uint64_t *starts = calloc(16, sizeof(*starts));
	if (!known || !starts) {
		free(known);
		free(starts);
		return NULL;
	}
	*known = (struct known){.key = key, .starts = starts, .n = 1, .capacity = 16};
	SLIST_INSERT_HEAD(&texts->known, known, link);
	return known;
}

/* Remembers the start of a chunk, unless another reader has already done so. If there is
 * no memory, the start is not remembered, and the next reader measures again. */
static void remember(struct order_texts *texts, uint64_t key, struct cursor start)
{
	LOCK_SCOPE(&texts->lock);
	if (start.generation != texts->generation)
		return;
	struct known *known = get_locked(texts, key);
	if (!known || known->n != start.chunk)
		return;
	uint64_t *starts =
		array_grow(known->starts, known->n, &known->capacity, sizeof(*starts));
	if (!starts)
		return;
	known->starts = starts;
	known->starts[known->n++] = start.byte;
}

static int render(const struct order_source *source, size_t number, struct chunk *ret)
{
	*ret = (struct chunk){0};
	FILE *out = open_memstream(&ret->text, &ret->bytes);
	if (!out)
		return -ENOMEM;
	ret->lines = source->print(
		source->context, (uint32_t)(number * ORDER_CHUNK), ORDER_CHUNK, out);
	bool failed = ferror(out);
	if (fclose(out) != 0 || failed) {
		free(ret->text);
		return -ENOMEM;
	}
	return 0;
}

static void advance(struct order_texts *texts, const struct order_source *source,
	struct cursor *cursor, uint64_t bytes)
{
	cursor->chunk++;
	cursor->byte += bytes;
	remember(texts, source->key, *cursor);
}

/* Renders the chunk at the cursor. If the chunk has ORDER_CHUNK lines, moves the cursor on. */
static int render_next(struct order_texts *texts, const struct order_source *source,
	struct cursor *cursor, struct chunk *ret)
{
	int err = render(source, cursor->chunk, ret);
	if (err || ret->lines < ORDER_CHUNK)
		return err;
	advance(texts, source, cursor, ret->bytes);
	return 0;
}

/* Counts the bytes of the chunk at the cursor. Returns true if the chunk has ORDER_CHUNK lines. */
static bool measure(const struct order_source *source, const struct cursor *cursor,
	uint64_t *ret_bytes)
{
	*ret_bytes = 0;
	return source->measure(source->context, (uint32_t)(cursor->chunk * ORDER_CHUNK),
		       ORDER_CHUNK, ret_bytes) == ORDER_CHUNK;
}

/* Finds the chunk that contains the offset, or the last chunk of a shorter text. */
static struct cursor find_chunk(
	struct order_texts *texts, const struct order_source *source, uint64_t offset)
{
	struct cursor cursor = seek(texts, source->key, offset);
	uint64_t bytes;
	while (measure(source, &cursor, &bytes) && cursor.byte + bytes <= offset)
		advance(texts, source, &cursor, bytes);
	return cursor;
}

ssize_t order_text_read(struct order_texts *texts, const struct order_source *source,
	uint64_t offset, char *buffer, size_t size)
{
	size_t filled = 0;
	bool more = true;
	struct cursor cursor = find_chunk(texts, source, offset);
	while (filled < size && more) {
		struct chunk chunk;
		uint64_t start = cursor.byte, wanted = offset + filled;
		int err = render_next(texts, source, &cursor, &chunk);
		if (err)
			return filled > 0 ? (ssize_t)filled : err;
		if (start + chunk.bytes > wanted) {
			size_t skip = (size_t)(wanted - start), n = chunk.bytes - skip;
			if (n > size - filled)
				n = size - filled;
			memcpy(buffer + filled, chunk.text + skip, n);
			filled += n;
		}
		more = chunk.lines == ORDER_CHUNK;
		free(chunk.text);
	}
	return (ssize_t)filled;
}

uint64_t order_text_size(
	struct order_texts *texts, const struct order_source *source, unsigned max_chunks)
{
	struct cursor cursor = seek(texts, source->key, UINT64_MAX);
	uint64_t bytes = 0;
	for (unsigned i = 0; i < max_chunks; i++) {
		if (!measure(source, &cursor, &bytes))
			return cursor.byte + bytes;
		advance(texts, source, &cursor, bytes);
	}
	return cursor.byte;
}

uint64_t order_text_known_size(struct order_texts *texts, uint64_t key)
{
	return seek(texts, key, UINT64_MAX).byte;
}
