// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/epoch_internal.h"

#include <errno.h>

/*
 * From the records of a journal to the engine that made them. Records are facts that may
 * have been damaged on their way: each is checked before it changes anything.
 */

static int refuse(const char *reason, const char **ret_reason)
{
	*ret_reason = reason;
	return -EINVAL;
}

static int replay_begun(
	struct epochs *epochs, const struct record *record, const char **ret_reason)
{
	struct epoch *epoch;
	if (record->epoch == EPOCH_CURRENT)
		return refuse("there is no such epoch", ret_reason);
	if (epochs->running && record->epoch <= epochs->running->number)
		return refuse("a later epoch has begun before", ret_reason);
	if (epochs->draining)
		return refuse("the last but one epoch has not ended", ret_reason);
	if (epochs->running && !record->rolls && !epochs->running->over)
		return refuse("the epoch before has not ended", ret_reason);
	int err = epoch_new(epochs, record->epoch, &epoch);
	if (!err)
		epoch_run(epochs, epoch, record->rolls);
	return err;
}

/* Which samples the epoch has bound: by sample, to find one that is there twice. */
static int note_sample(struct epoch *epoch, sample_id sample, const char **ret_reason)
{
	if (!epoch->replayed)
		epoch->replayed = roaring_bitmap_create();
	if (!epoch->replayed)
		return -ENOMEM;
	if (!roaring_bitmap_add_checked(epoch->replayed, sample))
		return refuse("the sample was bound before", ret_reason);
	return 0;
}

static int replay_bound(struct epochs *epochs, struct epoch *epoch,
	const struct record *record, const char **ret_reason)
{
	if (epoch->over)
		return refuse("the epoch has ended", ret_reason);
	if (epoch_has_bound(epoch, record->position))
		return refuse("the position was bound before", ret_reason);
	if (!roaring_bitmap_contains(epochs->config.selection, record->sample))
		return refuse("the sample is none of the job's", ret_reason);
	if (epochs->config.kind == EPOCHS_FIXED &&
		record->sample != fixed_sample(epochs, record->position))
		return refuse("the position has another sample", ret_reason);
	if ((unsigned)record->served > SERVED_SHARED)
		return refuse("there is no such way to be served", ret_reason);
	int err = epoch_reserve(epochs, epoch);
	if (!err)
		err = note_sample(epoch, record->sample, ret_reason);
	if (!err)
		epoch_bind(epoch, record->position, record->sample, record->served);
	return err;
}

static int replay_consumed(
	struct epoch *epoch, const struct record *record, const char **ret_reason)
{
	if (!epoch_has_bound(epoch, record->position))
		return refuse("the position is not bound", ret_reason);
	if (epoch_has_consumed(epoch, record->position))
		return refuse("the position was consumed before", ret_reason);
	epoch_mark_consumed(epoch, record->position);
	return 0;
}

static int replay_ended(struct epoch *epoch, const char **ret_reason)
{
	if (epoch->over)
		return refuse("the epoch has ended before", ret_reason);
	epoch->over = true;
	return 0;
}

static int replay_let_go(
	struct epochs *epochs, const struct epoch *epoch, const char **ret_reason)
{
	if (epoch != epochs->draining || !epoch->over)
		return refuse("the epoch does not drain", ret_reason);
	epochs->draining = NULL;
	return 0;
}

int epochs_replay(
	struct epochs *epochs, const struct record *record, const char **ret_reason)
{
	struct epoch *epoch = find_epoch(epochs, record->epoch);
	if (epochs->config.kind == EPOCHS_MIRRORED)
		return refuse("a mirror has no epochs", ret_reason);
	if (record->kind == RECORD_BEGUN)
		return replay_begun(epochs, record, ret_reason);
	if (!epoch)
		return refuse("the epoch has not begun", ret_reason);
	if (record->position >= epochs->config.positions)
		return refuse("there is no such position", ret_reason);
	switch (record->kind) {
	case RECORD_BOUND:
		return replay_bound(epochs, epoch, record, ret_reason);
	case RECORD_OPENED:
		return current_note(epochs, record);
	case RECORD_CONSUMED:
		return replay_consumed(epoch, record, ret_reason);
	case RECORD_ENDED:
		return replay_ended(epoch, ret_reason);
	case RECORD_LET_GO:
		return replay_let_go(epochs, epoch, ret_reason);
	case RECORD_BEGUN:
	case RECORD_KINDS:
		break;
	}
	return refuse("there is no such kind of record", ret_reason);
}

/* The process ended between the saving of the order and the end of the journal's part. */
void epochs_has_saved(struct epochs *epochs, uint32_t number)
{
	struct epoch *epoch = find_epoch(epochs, number);
	if (!epoch)
		roaring_bitmap_add(epochs->saved, number);
	else if (epoch->over && epoch != epochs->running && epoch != epochs->draining)
		epochs_saved(epochs, number);
}

/* The process may have ended between the last record of an epoch and what follows it. */
static void finish(struct epochs *epochs, struct epoch *epoch, struct effects *effects)
{
	if (epoch->replayed)
		roaring_bitmap_free(epoch->replayed);
	epoch->replayed = NULL;
	if (epoch->consumed == epochs->config.positions && !epoch->over)
		epoch_end(epochs, epoch, effects);
	epoch_save(epochs, epoch, effects);
}

void epochs_replayed(struct epochs *epochs, struct effects *effects)
{
	struct epoch *epoch;
	LIST_FOREACH (epoch, &epochs->live, link) {
		finish(epochs, epoch, effects);
		if (effects->n > 0)
			return;
	}
}
