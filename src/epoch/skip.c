// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "epoch/epoch_internal.h"

#include <errno.h>

/* An epoch first binds the samples that it keeps from the previous epoch, then the samples that it
 * leaves out. The left-out samples get positions that no reader sees, and that count as consumed.
 * So the remaining samples get the remaining positions, and a replay needs no special rules. */

static struct skipped *find(const struct epochs *epochs, uint32_t number)
{
	struct skipped *skipped;
	LIST_FOREACH (skipped, &epochs->skipped, link)
		if (skipped->epoch == number)
			return skipped;
	return NULL;
}

static struct skipped *make(struct epochs *epochs, uint32_t number)
{
	struct skipped *skipped = calloc(1, sizeof(*skipped));
	if (!skipped)
		return NULL;
	skipped->epoch = number;
	skipped->positions = roaring_bitmap_create();
	if (!skipped->positions) {
		free(skipped);
		return NULL;
	}
	LIST_INSERT_HEAD(&epochs->skipped, skipped, link);
	return skipped;
}

static int note(struct epochs *epochs, uint32_t number, uint32_t position)
{
	struct skipped *skipped = find(epochs, number);
	if (!skipped)
		skipped = make(epochs, number);
	if (!skipped)
		return -ENOMEM;
	roaring_bitmap_add(skipped->positions, position);
	return 0;
}

static bool has_adopted(const struct epoch *epoch, uint32_t position, sample_id sample)
{
	for (uint32_t k = 0; k < epoch->adopted; k++) {
		uint32_t kept = order_log_entry_position(epoch->log[k]);
		if (kept == position || epoch->samples[kept] == sample + 1)
			return true;
	}
	return false;
}

int epochs_skip(struct epochs *epochs, uint32_t number, uint32_t position,
	sample_id sample, struct effects *effects)
{
	struct epoch *epoch = find_epoch(epochs, number);
	ensure(epoch && !epoch->over && epoch->stream != STREAM_READY);
	ensure(epoch->bound + 1 < epoch->set->positions);
	int err = has_adopted(epoch, position, sample) ? -EEXIST : epoch_reserve(epoch);
	if (!err)
		err = note(epochs, number, position);
	if (err)
		return err;
	epoch_bind(epoch, position, sample, SERVED_SKIPPED);
	effect_record_bound(effects, number, position, sample, SERVED_SKIPPED);
	epoch_mark_consumed(epoch, position);
	return 0;
}

void epochs_was_skipped(struct epochs *epochs, uint32_t number, uint32_t position)
{
	(void)!note(epochs, number, position);
}

void skip_take(struct epochs *epochs, struct epoch *epoch, bool begins)
{
	for (uint32_t k = 0; k < epoch->bound; k++) {
		uint32_t position = order_log_entry_position(epoch->log[k]);
		if (epoch->log[k] >> ORDER_POSITION_BITS != SERVED_SKIPPED)
			continue;
		epochs_was_skipped(epochs, epoch->number, position);
		if (begins && !epoch_has_consumed(epoch, position))
			epoch_mark_consumed(epoch, position);
	}
}

const roaring_bitmap_t *epochs_skipped(const struct epochs *epochs, uint32_t number)
{
	const struct skipped *skipped = find(epochs, number);
	return skipped ? skipped->positions : NULL;
}

void skip_forget(struct epochs *epochs, uint32_t before)
{
	struct skipped *skipped, *next;
	for (skipped = LIST_FIRST(&epochs->skipped); skipped; skipped = next) {
		next = LIST_NEXT(skipped, link);
		if (skipped->epoch >= before)
			continue;
		LIST_REMOVE(skipped, link);
		roaring_bitmap_free(skipped->positions);
		free(skipped);
	}
}
