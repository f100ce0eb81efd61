// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "section/section.h"
#include "image/tensor.h"

#define REAPED_AT_ONCE 16

/* Freeing a tensor of many megabytes takes a system call, so it is done without the lock. */
void section_reap(const struct section *section)
{
	struct tensor *dead[REAPED_AT_ONCE];
	int n;
	for (;;) {
		for (n = 0; n < REAPED_AT_ONCE; n++)
			if (!(dead[n] = cache_reap(section->cache)))
				break;
		lock_release(section->lock);
		for (int i = 0; i < n; i++)
			tensor_free(dead[i]);
		if (n < REAPED_AT_ONCE)
			return;
		lock_take(section->lock);
	}
}

void section_close(const struct section *section, struct aftermath *aftermath)
{
	lock_assert_held(section->lock);
	section->note_work_locked(section->owner, aftermath);
	section_reap(section);
	for (size_t i = 0; i < section->n_phases; i++)
		section->phases[i](section->owner, aftermath);
}
