// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/lock.h"
#include "cache/cache.h"

/*
 * A critical section of the scheduler, and the work that follows it without the lock.
 *
 *   Flow: the owner takes the lock and changes its data; section_close lists the necessary work,
 *         releases the lock, and calls the phases, which do the work.
 *   Owns: nothing.   Threads: any.   Locks: releases section->lock.   Errors: none.
 */

struct aftermath; /* list of the work to do after the section; defined by the owner */

/* Does one kind of work from the list, without the lock. */
typedef void after_phase(void *owner, struct aftermath *aftermath);

/* A section is made once, and its fields never change. */
struct section {
	struct lock *lock;
	struct cache *cache; /* used only with the lock held */
	void *owner;
	/* Adds to `aftermath` the work that the state of `owner` makes necessary. */
	void (*note_work_locked)(const void *owner, struct aftermath *aftermath);
	after_phase *const *phases; /* called in this order */
	size_t n_phases;
};

/* Completes the list of work, releases the lock, frees evicted tensors, and calls the phases. */
void section_close(const struct section *section, struct aftermath *aftermath);
/* Releases the lock, and frees evicted tensors. */
void section_reap(const struct section *section);
