// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/epoch_internal.h"

/*
 * Epochs that have not begun get a new set when the dataset is scanned again. Epochs that have
 * begun, or have orders in files, keep their sets.
 *
 *    epoch   0     1     2     3     4     5
 *    set     A     A     A     B     B     C
 *                       runs  known known
 *
 * Here the job has gone back from epoch 4 to epoch 2. Epochs 3 and 4 have orders in files.
 */

const struct epoch_set *set_of(const struct epochs *epochs, uint32_t number)
{
	const struct epoch_set *set = TAILQ_LAST(&epochs->sets, epoch_sets);
	while (set->first > number) {
		const struct epoch_set *before = TAILQ_PREV(set, epoch_sets, link);
		/* the epoch is forgotten, and its set was dropped: the oldest set stands for it */
		if (!before)
			break;
		set = before;
	}
	return set;
}

bool has_position(const struct epoch *epoch, uint32_t position)
{
	return position < epoch->set->positions;
}

bool has_file(const struct epoch *epoch, const struct open_request *request)
{
	return request->names == epoch->set->names &&
	       has_position(epoch, request->position);
}

uint32_t epochs_first_new(const struct epochs *epochs)
{
	uint32_t first = epochs->running ? epochs->running->number + 1 : 0;
	if (!roaring_bitmap_is_empty(epochs->saved) &&
		roaring_bitmap_maximum(epochs->saved) >= first)
		first = roaring_bitmap_maximum(epochs->saved) + 1;
	for (size_t i = 0; i < epochs->n_known; i++)
		if (epochs->known[i].epoch >= first)
			first = epochs->known[i].epoch + 1;
	return first;
}

void epochs_use_set(struct epochs *epochs, uint32_t first, struct epoch_set *set)
{
	set->first = first;
	TAILQ_INSERT_TAIL(&epochs->sets, set, link);
}

/* Returns the first epoch in memory or with an order in a file, or else epochs_first_new. */
static uint32_t first_kept(const struct epochs *epochs)
{
	const struct epoch *epoch;
	uint32_t first = epochs_first_new(epochs);
	LIST_FOREACH (epoch, &epochs->live, link)
		first = epoch->number < first ? epoch->number : first;
	if (!roaring_bitmap_is_empty(epochs->saved) &&
		roaring_bitmap_minimum(epochs->saved) < first)
		first = roaring_bitmap_minimum(epochs->saved);
	for (size_t i = 0; i < epochs->n_known; i++)
		first = epochs->known[i].epoch < first ? epochs->known[i].epoch : first;
	return first;
}

/* A set is no longer needed if the next set begins no later than this set, or no later than the
 * first epoch that is kept. */
struct epoch_set *epochs_drop_set(struct epochs *epochs)
{
	struct epoch_set *set, *next;
	uint32_t first = first_kept(epochs);
	for (set = TAILQ_FIRST(&epochs->sets); (next = TAILQ_NEXT(set, link)); set = next)
		if (next->first <= set->first || next->first <= first) {
			TAILQ_REMOVE(&epochs->sets, set, link);
			return set;
		}
	return NULL;
}

/* The set of current/ is the last one if a scan has changed file names, even while an epoch of an
 * older set runs. Then the names in current/ change only once, and epochs with older names can only
 * be read in their directories epoch-NNNN. */
const struct epoch_set *epochs_set(const struct epochs *epochs, uint32_t number)
{
	const struct epoch *running = epochs->running;
	if (number != EPOCH_CURRENT)
		return set_of(epochs, number);
	const struct epoch_set *last = set_of(epochs, epochs->config.limit - 1);
	if (last->names)
		return last;
	bool read = running &&
		    running->bound >= running->set->positions - running->bound &&
		    running->number + 1 < epochs->config.limit;
	return set_of(epochs, running ? running->number + read : 0);
}

const struct epoch_set *epochs_widest_set(const struct epochs *epochs)
{
	const struct epoch *running = epochs->running;
	const struct epoch_set *widest =
		set_of(epochs, running ? running->number + 1 : 0);
	if (epochs_set(epochs, EPOCH_CURRENT)->names)
		return epochs_set(epochs, EPOCH_CURRENT);
	if (running && running->set->positions > widest->positions)
		widest = running->set;
	if (epochs->draining && epochs->draining->set->positions > widest->positions)
		widest = epochs->draining->set;
	return widest;
}
