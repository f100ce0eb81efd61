// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "epoch/epoch_internal.h"

#include <errno.h>
#include <stdlib.h>

/* Keeps samples of the previous epoch in a new epoch: a file that the script's pass has already
 * opened must not get another sample while the pass goes on (current.c). The kept samples are the
 * first bindings of the new epoch, in the order in which the script has opened their files, and
 * their positions count as consumed. So a replay that begins with the new epoch knows this order.
 * The journal has these bindings before the open that has begun the epoch. If the process ends
 * before this open is recorded, the script has not turned. */

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

/* Finds the files opened after the script's first `since` counted opens, in order of opening. */
static int kept_files(
	const struct script *script, uint32_t since, uint32_t **ret, uint32_t *ret_n)
{
	/* at[m] is first the number of files with the mark since + 1 + m, later the index in *ret
	 * at which the next of these files is stored. */
	uint32_t span = script->opens - since, n = 0;
	auto_free uint32_t *at = calloc(span, sizeof(*at));
	if (!at)
		return -ENOMEM;
	for (uint32_t f = 0; f < script->files; f++)
		if (script->marks[f] > since)
			at[script->marks[f] - since - 1]++;
	for (uint32_t m = 0, same; m < span; m++, n += same) {
		same = at[m];
		at[m] = n;
	}
	uint32_t *files = calloc(n, sizeof(*files));
	if (!files)
		return -ENOMEM;
	for (uint32_t f = 0; f < script->files; f++)
		if (script->marks[f] > since)
			files[at[script->marks[f] - since - 1]++] = f;
	*ret = files;
	*ret_n = n;
	return 0;
}

bool adopt_begin(struct epochs *epochs, struct record *opened, struct effects *effects)
{
	uint32_t since = adopt_since(epochs, opened);
	if (since == UINT32_MAX)
		return false;
	uint32_t s = script_place(&epochs->current, opened->reader.script), n;
	uint32_t *files;
	if (kept_files(&epochs->current.scripts[s], since, &files, &n) != 0) {
		opened->how = OPENED_JOINS;
		return false;
	}
	epochs->adopting = (struct adopting){.active = true,
		.script = s,
		.files = files,
		.n_files = n,
		.from = epochs->current.scripts[s].epoch,
		.opened = *opened};
	effects->resumes = true;
	return true;
}

static void adopt_position(const struct epoch *from, struct epoch *to, uint32_t position,
	struct effects *effects)
{
	if (epoch_reserve(to) != 0)
		/* no memory: the sample is not kept, and the file's next open binds its position */
		return;
	sample_id sample = from->samples[position] - 1;
	epoch_bind(to, position, sample, SERVED_HIT);
	to->adopted++;
	epoch_mark_consumed(to, position);
	effect_record_bound(effects, to->number, position, sample, SERVED_HIT);
	effect_record_consumed(effects, to->number, position);
}

/* Records the opens by ranks that had already opened all files of their parts. These opens belong
 * to the pass over the new epoch, and a replay that begins with the new epoch needs them. Returns
 * false if `effects` is full before all opens are recorded. */
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
	const struct epoch *from = find_epoch(epochs, adopting->from);
	struct epoch *to = find_epoch(epochs, adopting->opened.epoch);
	uint32_t per_file = epochs->config.file;
	ensure(from && to);
	for (; adopting->next < adopting->n_files * per_file; adopting->next++) {
		uint32_t position =
			adopting->files[adopting->next / per_file] * per_file +
			adopting->next % per_file;
		if (effects->n + 2 > EFFECTS_MAX)
			return;
		if (has_position(from, position) && epoch_has_bound(from, position))
			adopt_position(from, to, position, effects);
	}
	if (!record_beyond(epochs, effects) || effects->n + 1 > EFFECTS_MAX)
		return;
	adopting->active = false;
	free(adopting->files);
	adopting->files = NULL;
	if (current_note(epochs, &adopting->opened) == 0)
		effect_record(effects, adopting->opened);
}

uint32_t epochs_adopted(const struct epochs *epochs, uint32_t number)
{
	const struct epoch *epoch = find_epoch(epochs, number);
	return epoch ? epoch->adopted : 0;
}
