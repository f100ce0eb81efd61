// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "cache/cache.h"

/*
 * A critical section, and the phases that run after it without its lock.
 *
 *   Flow: the owner takes the lock, and notes in a struct aftermath which work is left;
 *         section_close releases the lock, and runs the phases that do the work.
 *   Owns: nothing.   Threads: any.   Locks: releases section->lock.   Errors: none.
 */

struct aftermath; /* defined by the owner */

/* Does one kind of the work that the aftermath lists. Called without the lock. */
typedef void after_phase(void *owner, struct aftermath *aftermath);

/* The fields never change. */
struct section {
	struct lock *lock;
	struct cache *cache; /* used only with the lock held */
	void *owner;
	/* Notes in the aftermath which work the owner's state makes necessary. */
	void (*note_work_locked)(const void *owner, struct aftermath *aftermath);
	after_phase *const *phases; /* in the order in which they run */
	size_t n_phases;
};

/* Releases the lock, frees the tensors that the cache has evicted, and runs the phases. */
void section_close(const struct section *section, struct aftermath *aftermath);
/* Releases the lock, and frees the tensors that the cache has evicted. */
void section_reap(const struct section *section);
