// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stddef.h>

/* Blocks of memory for one image. Memory is given out in pieces, which are all taken back together.
 * Another block is added if the newest block is too small for a piece. scratch_reset replaces
 * several blocks by one block of their total size, so that the next image of this size needs no
 * allocation. */

struct scratch_block;

struct scratch {
	struct scratch_block *block; /* the newest block; pieces are taken from it */
	size_t used;		     /* bytes of the newest block that are taken */
	size_t bytes;		     /* bytes of all blocks */
};

/* Returns uncleared memory, aligned for any vector instruction. Returns NULL if an allocation
 * fails. */
void *scratch_take(struct scratch *scratch, size_t size);
/* Takes all pieces back. Frees the blocks if they have more than KEEP_BYTES in all. */
void scratch_reset(struct scratch *scratch);
void scratch_free(struct scratch *scratch);
