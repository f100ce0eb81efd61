// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <stddef.h>

/*
 * Memory for one image, given out piece by piece and taken back all at once. It grows by
 * blocks when an image needs more than all images before it. scratch_reset then makes one
 * block of them, so that the next image of that kind needs no allocation.
 *
 *   Owns: its blocks.   Threads: one at a time.
 */

struct scratch_block;

struct scratch {
	struct scratch_block *block; /* newest block, which pieces are taken from */
	size_t used;		     /* bytes of it that are taken */
	size_t bytes;		     /* size of all blocks */
};

/* Returns memory that is aligned for any vector instruction, and not cleared. NULL: no memory. */
void *scratch_take(struct scratch *scratch, size_t size);
/* Takes all pieces back. Blocks of more than `keep` bytes are freed. */
void scratch_reset(struct scratch *scratch, size_t keep);
void scratch_free(struct scratch *scratch);
