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

/* is_due_locked tells, under the lock, whether there is work; NULL: the aftermath tells. `run`
 * does the work, and is called without the lock. */
struct after_phase {
	bool (*is_due_locked)(const void *owner, const struct aftermath *aftermath);
	void (*run)(void *owner, struct aftermath *aftermath);
};
#define AFTER_PHASES 16 /* the most phases */

/* All fields are constant. */
struct section {
	struct lock *lock;
	struct cache *cache; /* under the lock */
	void *owner;
	const struct after_phase *phases; /* in the order in which they run */
	size_t n_phases;
};

/* Releases the lock, frees the tensors that the cache has evicted, and runs the phases that
 * are due. */
void section_close(const struct section *section, struct aftermath *aftermath);
/* Releases the lock, and frees the tensors that the cache has evicted. */
void section_reap(const struct section *section);
