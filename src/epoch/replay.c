// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/epoch_internal.h"

#include <errno.h>

int replay_refuse(const char *reason, const char **ret_reason)
{
	*ret_reason = reason;
	return -EINVAL;
}

/* The disk may have damaged records, so each one is checked before it changes anything. */

/* loaded: made from the epoch's order file, and taken over except on failure; NULL: no such file */
static int replay_begun(struct epochs *epochs, const struct record *record,
	struct epoch *loaded, const char **ret_reason)
{
	struct epoch *epoch = loaded;
	if (record->epoch == EPOCH_CURRENT)
		return replay_refuse("there is no such epoch", ret_reason);
	if (epochs->running && record->epoch <= epochs->running->number)
		return replay_refuse("a later epoch has already begun", ret_reason);
	if (epochs->draining)
		return replay_refuse(
			"the epoch before the last one has not ended", ret_reason);
	if (epochs->running && !record->rolls && !epochs->running->over)
		return replay_refuse("the epoch before has not ended", ret_reason);
	int err = loaded ? 0 : epoch_new(epochs, record->epoch, &epoch);
	if (err)
		return err;
	if (loaded)
		LIST_INSERT_HEAD(&epochs->live, epoch, link);
	skip_take(epochs, epoch, true);
	epoch_run(epochs, epoch, record->rolls);
	if (epochs->draining)
		epochs->draining->read_at = epoch->bound;
	return 0;
}

/* Refuses a sample that the epoch has already bound. */
static int note_sample(struct epoch *epoch, sample_id sample, const char **ret_reason)
{
	if (!epoch->replayed) {
		epoch->replayed = roaring_bitmap_create();
		if (!epoch->replayed)
			return -ENOMEM;
		/* begin with the bindings of the epoch's order file */
		for (uint32_t k = 0; k < epoch->bound; k++)
			roaring_bitmap_add(epoch->replayed,
				epoch->samples[order_log_entry_position(epoch->log[k])] -
					1);
	}
	if (!roaring_bitmap_add_checked(epoch->replayed, sample))
		return replay_refuse("the sample is already bound", ret_reason);
	return 0;
}

static int replay_bound(struct epochs *epochs, struct epoch *epoch,
	const struct record *record, const char **ret_reason)
{
	if (epoch->over)
		return replay_refuse("the epoch has ended", ret_reason);
	if (epoch_has_bound(epoch, record->position))
		return replay_refuse("the position is already bound", ret_reason);
	if (!roaring_bitmap_contains(epoch->set->selection, record->sample))
		return replay_refuse("the sample is none of the job's", ret_reason);
	if (epochs->config.kind == EPOCHS_FIXED &&
		record->sample != fixed_sample(epoch->set, record->position))
		return replay_refuse("the position has another sample", ret_reason);
	if ((unsigned)record->served > SERVED_SKIPPED)
		return replay_refuse("there is no such way to be served", ret_reason);
	int err = epoch_reserve(epoch);
	if (!err)
		err = note_sample(epoch, record->sample, ret_reason);
	if (err)
		return err;
	epoch_bind(epoch, record->position, record->sample, record->served);
	if (record->served == SERVED_SKIPPED) {
		epochs_was_skipped(epochs, epoch->number, record->position);
		epoch_mark_consumed(epoch, record->position);
	}
	return 0;
}

int replay_consumed(struct epoch *epoch, uint32_t position, const char **ret_reason)
{
	if (position >= epoch->set->positions || !epoch_has_bound(epoch, position))
		return replay_refuse("the position is not bound", ret_reason);
	if (epoch_has_consumed(epoch, position))
		return replay_refuse("the position is already consumed", ret_reason);
	epoch_mark_consumed(epoch, position);
	return 0;
}

static int replay_ended(struct epoch *epoch, const char **ret_reason)
{
	if (epoch->over)
		return replay_refuse("the epoch has already ended", ret_reason);
	epoch->over = true;
	return 0;
}

static int replay_let_go(
	struct epochs *epochs, const struct epoch *epoch, const char **ret_reason)
{
	if (epoch != epochs->draining || !epoch->over)
		return replay_refuse("the epoch does not drain", ret_reason);
	epochs->draining = NULL;
	return 0;
}

int epochs_replay(
	struct epochs *epochs, const struct record *record, const char **ret_reason)
{
	struct epoch *epoch = find_epoch(epochs, record->epoch);
	if (epochs->config.kind == EPOCHS_MIRRORED)
		return replay_refuse("a mirror has no epochs", ret_reason);
	if (record->kind == RECORD_RESTORED ||
		(record->kind == RECORD_BEGUN && record->bound > 0))
		return replay_refuse(
			"the order with which it continues is missing", ret_reason);
	if (record->kind == RECORD_BEGUN)
		return replay_begun(epochs, record, NULL, ret_reason);
	if (!epoch)
		return replay_refuse("the epoch has not begun", ret_reason);
	if (record->position >= epoch->set->positions)
		return replay_refuse("there is no such position", ret_reason);
	switch (record->kind) {
	case RECORD_BOUND:
		return replay_bound(epochs, epoch, record, ret_reason);
	case RECORD_OPENED:
		return current_note(epochs, record);
	case RECORD_CONSUMED:
		return replay_consumed(epoch, record->position, ret_reason);
	case RECORD_ENDED:
		return replay_ended(epoch, ret_reason);
	case RECORD_LET_GO:
		return replay_let_go(epochs, epoch, ret_reason);
	case RECORD_BEGUN:
	case RECORD_RESTORED:
	case RECORD_KINDS:
		break;
	}
	return replay_refuse("there is no such kind of record", ret_reason);
}

/* Takes over `loaded`, except on failure. */
static int replay_restored(struct epochs *epochs, const struct record *record,
	struct epoch *loaded, const char **ret_reason)
{
	struct effects effects;
	if (record->drains && (!epochs->running || epochs->draining ||
				      record->epoch >= epochs->running->number))
		return replay_refuse(
			"no later epoch runs, or another one already drains", ret_reason);
	if (loaded->bound != record->bound || loaded->consumed != record->consumed)
		return replay_refuse("its order differs", ret_reason);
	if (!record->drains) {
		/* no effects: in a replay no epoch has pins or a stream */
		effects_init(&effects);
		restore_live(epochs, loaded, NULL, &effects);
		return 0;
	}
	LIST_INSERT_HEAD(&epochs->live, loaded, link);
	skip_take(epochs, loaded, false);
	epochs->draining = loaded;
	loaded->read_at = epochs->running->bound;
	return 0;
}

int epochs_replay_loaded(struct epochs *epochs, const struct record *record,
	struct epoch *loaded, const char **ret_reason)
{
	int err;
	if (epochs->config.kind == EPOCHS_MIRRORED)
		err = replay_refuse("a mirror has no epochs", ret_reason);
	else if (loaded->number != record->epoch)
		err = replay_refuse("its order belongs to another epoch", ret_reason);
	else if (record->kind == RECORD_RESTORED)
		err = replay_restored(epochs, record, loaded, ret_reason);
	else if (record->kind == RECORD_BEGUN)
		err = replay_begun(epochs, record, loaded, ret_reason);
	else
		err = replay_refuse("it continues without an order", ret_reason);
	if (err)
		epoch_reaped_free(loaded);
	return err;
}

/* Adds records of the epoch's end, which may be missing because the process ended. */
static void finish(struct epochs *epochs, struct epoch *epoch, struct effects *effects)
{
	epoch->bound_before = epoch->bound;
	bitmap_free(&epoch->replayed);
	if (epoch->consumed == epoch->set->positions && !epoch->over)
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
