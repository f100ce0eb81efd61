// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "image/scratch.h"
#include "image/buffer.h"

#include <stdint.h>

#define ALIGNMENT 64
#define MIN_BLOCK ((size_t)64 << 10)

struct scratch_block {
	struct scratch_block *older;
	size_t size;
	_Alignas(ALIGNMENT) unsigned char data[];
};

static struct scratch_block *add_block(struct scratch *scratch, size_t size)
{
	size_t all = size + sizeof(struct scratch_block);
	if (all < size || all > SIZE_MAX - ALIGNMENT)
		return NULL;
	all = (all + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	struct scratch_block *block = aligned_alloc(ALIGNMENT, all);
	if (!block)
		return NULL;
	block->older = scratch->block;
	block->size = size;
	scratch->block = block;
	scratch->bytes += size;
	scratch->used = 0;
	return block;
}

void *scratch_take(struct scratch *scratch, size_t size)
{
	if (size > SIZE_MAX - ALIGNMENT)
		return NULL;
	size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (!scratch->block || scratch->block->size - scratch->used < size) {
		/* as large as all blocks so far, so that even a large image needs few blocks */
		size_t grow = scratch->bytes > MIN_BLOCK ? scratch->bytes : MIN_BLOCK;
		if (!add_block(scratch, size > grow ? size : grow))
			return NULL;
	}
	void *piece = scratch->block->data + scratch->used;
	scratch->used += size;
	return piece;
}

void scratch_reset(struct scratch *scratch)
{
	size_t bytes = scratch->bytes;
	if (scratch->block && (scratch->block->older || bytes > KEEP_BYTES)) {
		scratch_free(scratch);
		/* If this fails, the next image tries again, and reports the error. */
		if (bytes <= KEEP_BYTES)
			(void)add_block(scratch, bytes);
	}
	scratch->used = 0;
}

void scratch_free(struct scratch *scratch)
{
	struct scratch_block *block = scratch->block;
	while (block) {
		struct scratch_block *older = block->older;
		free(block);
		block = older;
	}
	*scratch = (struct scratch){0};
}
