// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "epoch/epoch_internal.h"

/*
 * Samples that a new epoch keeps from the previous epoch, because the script's pass goes on in the
 * new epoch and has already opened their files (see current.c). They are the first bindings of the
 * epoch, and their positions count as consumed. The journal gets the open that began the epoch
 * after these bindings. If the process ends before it gets this open, the script has not turned.
 */

uint32_t adopt_since(const struct epochs *epochs, const struct record *opened)
{
	const struct current *current = &epochs->current;
	uint32_t s = script_place(current, opened->reader.script), r = NOBODY, w = NOBODY;
	uint32_t file = opened->position / epochs->config.file;
	if (s == NOBODY || !may_keep(opened))
		return UINT32_MAX;
	const struct script *script = &current->scripts[s];
	if (file >= script->files || script->set != set_of(epochs, opened->epoch))
		return UINT32_MAX;
	r = rank_place(current, s, opened->reader.rank);
	if (r != NOBODY)
		w = worker_place(current, r, opened->reader.thread);
	uint32_t since =
		current_since(epochs, w == NOBODY ? NULL : &current->workers[w], opened);
	return since < script->opens ? since : UINT32_MAX;
}

bool adopt_begin(
	struct epochs *epochs, const struct record *opened, struct effects *effects)
{
	uint32_t since = adopt_since(epochs, opened);
	if (since == UINT32_MAX)
		return false;
	uint32_t s = script_place(&epochs->current, opened->reader.script);
	epochs->adopting = (struct adopting){.active = true,
		.script = s,
		.since = since,
		.from = epochs->current.scripts[s].epoch,
		.opened = *opened};
	effects->resumes = true;
	return true;
}

static void adopt_position(const struct epoch *from, struct epoch *to, uint32_t position,
	struct effects *effects)
{
	if (epoch_reserve(to) != 0)
		/* there is no memory: the sample is not kept, and the file's next open binds its
		 * position */
		return;
	sample_id sample = from->samples[position] - 1;
	epoch_bind(to, position, sample, SERVED_HIT);
	to->adopted++;
	epoch_mark_consumed(to, position);
	effect_record_bound(effects, to->number, position, sample, SERVED_HIT);
	effect_record_consumed(effects, to->number, position);
}

/* Records the opens that ranks have made after all files of their parts: these belong to the pass
 * over the new epoch. The records allow a replay of the new epoch without the previous one. Returns
 * false if `effects` is full before all are recorded. */
static bool record_beyond(struct epochs *epochs, struct effects *effects)
{
	struct adopting *adopting = &epochs->adopting;
	const struct script *script = &epochs->current.scripts[adopting->script];
	enum division over = division_over(&epochs->current, script);
	const struct beyond *next;
	while (over != DIVISIONS && effects->n < EFFECTS_MAX) {
		next = next_beyond(script, over, &adopting->beyond);
		if (!next)
			return true;
		effect_record(
			effects, (struct record){.kind = RECORD_OPENED,
					 .epoch = adopting->opened.epoch,
					 .position = next->file * epochs->config.file,
					 .reader = {next->thread, next->rank, script->id},
					 .how = OPENED_BEYOND});
	}
	return over == DIVISIONS;
}

void adopt_some(struct epochs *epochs, struct effects *effects)
{
	struct adopting *adopting = &epochs->adopting;
	const struct script *script = &epochs->current.scripts[adopting->script];
	const struct epoch *from = find_epoch(epochs, adopting->from);
	struct epoch *to = find_epoch(epochs, adopting->opened.epoch);
	uint32_t file = epochs->config.file;
	ensure(from && to);
	for (; adopting->position < from->set->positions; adopting->position++) {
		uint32_t position = adopting->position;
		if (effects->n + 2 > EFFECTS_MAX)
			return;
		if (script->marks[position / file] > adopting->since &&
			epoch_has_bound(from, position))
			adopt_position(from, to, position, effects);
	}
	if (!record_beyond(epochs, effects) || effects->n + 1 > EFFECTS_MAX)
		return;
	adopting->active = false;
	if (current_note(epochs, &adopting->opened) == 0)
		effect_record(effects, adopting->opened);
}

uint32_t epochs_adopted(const struct epochs *epochs, uint32_t number)
{
	const struct epoch *epoch = find_epoch(epochs, number);
	return epoch ? epoch->adopted : 0;
}
