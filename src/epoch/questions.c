// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "epoch/epoch_internal.h"

enum epoch_state epochs_state(const struct epochs *epochs, uint32_t number)
{
	if (find_epoch(epochs, number))
		return EPOCH_LIVE;
	if (roaring_bitmap_contains(epochs->saved, number))
		return EPOCH_SAVED;
	bool left_out = epochs->running && number < epochs->running->number;
	return left_out ? EPOCH_OVER : EPOCH_UNKNOWN;
}

void epochs_status(const struct epochs *epochs, struct epochs_status *ret)
{
	const struct epoch *running = epochs->running;
	*ret = (struct epochs_status){.idle = epochs->idle};
	if (!running)
		return;
	ret->started = true;
	ret->running = !running->over;
	ret->epoch = running->number;
	ret->bound = running->bound;
	ret->consumed = running->consumed;
	ret->ahead = running->queue.length;
}

sample_id epochs_bound(const struct epochs *epochs, uint32_t number, uint32_t position)
{
	if (number == EPOCH_CURRENT)
		number = epochs_current(epochs, position);
	const struct epoch_set *set = set_of(epochs, number);
	if (position >= set->positions)
		return SAMPLE_NONE;
	if (epochs->config.kind == EPOCHS_FIXED || epochs->config.kind == EPOCHS_MIRRORED)
		return fixed_sample(set, position);
	const struct epoch *epoch = find_epoch(epochs, number);
	return epoch ? epoch->samples[position] - 1 : SAMPLE_NONE;
}

uint32_t epochs_current(const struct epochs *epochs, uint32_t position)
{
	const struct epoch *running = epochs->running, *draining = epochs->draining;
	if (!running)
		return 0;
	if (running->set->names != epochs_set(epochs, EPOCH_CURRENT)->names)
		return running->number + 1;
	bool runs = has_position(running, position);
	bool drains = draining && has_position(draining, position) &&
		      !(runs && epoch_has_bound(running, position)) &&
		      epoch_has_bound(draining, position) &&
		      !epoch_has_consumed(draining, position);
	if (drains)
		return draining->number;
	bool read = (!runs || epoch_has_consumed(running, position)) &&
		    running->bound >= running->set->positions - running->bound &&
		    running->number + 1 < epochs->config.limit;
	return running->number + read;
}

struct order epochs_order(const struct epochs *epochs, uint32_t number)
{
	const struct epoch *epoch = find_epoch(epochs, number);
	ensure(epoch);
	return (struct order){.positions = epoch->set->positions,
		.bound = epoch->bound,
		.samples = epoch->samples,
		.log = epoch->log,
		.consumed = epoch->consumed,
		.reads = epoch->reads};
}

static sample_id drawn_at(const struct drawn_queue *queue, uint32_t i)
{
	uint32_t at = queue->head + i;
	if (i >= queue->length)
		return SAMPLE_NONE;
	return queue->ring[at < queue->size ? at : at - queue->size].sample;
}

sample_id epochs_drawn_at(const struct epochs *epochs, uint32_t number, uint32_t i)
{
	const struct epoch *epoch = find_epoch(epochs, number);
	return epoch ? drawn_at(&epoch->queue, i) : SAMPLE_NONE;
}

struct epochs_coming epochs_coming(const struct epochs *epochs, uint32_t number)
{
	const struct epoch *epoch = find_epoch(epochs, number);
	ensure(epoch);
	uint32_t ahead = epoch->queue.length;
	return (struct epochs_coming){.ahead = ahead,
		.unbound = epoch->set->positions - epoch->bound - ahead,
		.next = {drawn_at(&epoch->queue, 0), drawn_at(&epoch->queue, 1)}};
}

uint32_t epochs_consumed_first(
	const struct epochs *epochs, uint32_t number, uint32_t from)
{
	const struct epoch *epoch = find_epoch(epochs, number);
	ensure(epoch && from <= epoch->bound);
	if (from < epoch->bound_before)
		from = epoch->bound_before;
	while (from < epoch->bound &&
		epoch_has_consumed(epoch, order_log_entry_position(epoch->log[from])))
		from++;
	return from;
}

static bool wants(const struct epoch *epoch, enum effect_kind kind)
{
	return (kind == EFFECT_BEGIN && epoch->stream == STREAM_BEGINNING) ||
	       (kind == EFFECT_SAVE && epoch->saving && !epoch->saved) ||
	       (kind == EFFECT_LOAD && epoch->load == LOAD_WANTED);
}

bool epochs_wants(const struct epochs *epochs, enum effect_kind kind, uint32_t *ret_epoch)
{
	const struct epoch *epoch;
	LIST_FOREACH (epoch, &epochs->live, link)
		if (wants(epoch, kind)) {
			*ret_epoch = epoch->number;
			return true;
		}
	return false;
}

bool epochs_wants_stream_of(const struct epochs *epochs, uint32_t number)
{
	const struct epoch *epoch = find_epoch(epochs, number);
	return epoch && wants(epoch, EFFECT_BEGIN);
}

uint32_t epochs_first_unsaved(const struct epochs *epochs)
{
	const struct epoch *epoch;
	uint32_t first = UINT32_MAX;
	LIST_FOREACH (epoch, &epochs->live, link)
		if (!epoch->saved && epoch->number < first)
			first = epoch->number;
	return first;
}

uint32_t epochs_ahead(const struct epochs *epochs, uint32_t number)
{
	const struct epoch *epoch = find_epoch(epochs, number);
	return epoch ? epoch->queue.length : 0;
}

struct epochs_script epochs_last_script(const struct epochs *epochs, uint64_t rank)
{
	const struct current *current = &epochs->current;
	const struct script *last = NULL;
	for (uint32_t i = 0; i < current->n_scripts; i++)
		if (!last || current->scripts[i].used > last->used)
			last = &current->scripts[i];
	if (!last)
		return (struct epochs_script){0};
	uint32_t place = script_place(current, last->id);
	return (struct epochs_script){.id = last->id,
		.ended = last->ended,
		.has_rank =
			place != NOBODY && rank_place(current, place, rank) != NOBODY};
}
