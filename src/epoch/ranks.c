// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/epoch_internal.h"

/*
 * Ranks of a script. A sampler gives each rank a part of all files, and pads the parts, or
 * leaves out the files that do not divide. A rank's own opens are counted, so that its pass is
 * known to be over when it has opened its part.
 */

/* Tells whether the rank is one of the script's, and has opened a file lately, so that it has
 * not gone. */
static bool is_rank_of(const struct current *current, const struct script *script,
	const struct rank *rank)
{
	return rank->script != NOBODY && &current->scripts[rank->script] == script &&
	       rank->used + script->files >= current->opened;
}

uint32_t n_ranks(const struct current *current, const struct script *script)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < current->n_ranks; i++)
		n += is_rank_of(current, script, &current->ranks[i]);
	return n > 0 ? n : 1;
}

bool is_first(const struct current *current, const struct script *script, uint32_t mark)
{
	uint32_t since = script->whole > 0 ? script->first : script->begun;
	return mark <= since + n_ranks(current, script) * n_hedged(script);
}

struct parts parts_of(const struct current *current, const struct script *script)
{
	uint32_t n = n_ranks(current, script);
	struct parts parts = {.n = n,
		.least = script->files / n,
		.most = (script->files - 1) / n + 1,
		.since = NOBODY,
		.beyond = NOBODY};
	uint32_t least = NOBODY, most = NOBODY, counts = NOBODY;
	for (uint32_t i = 0; i < current->n_ranks; i++) {
		const struct rank *rank = &current->ranks[i];
		if (!is_rank_of(current, script, rank))
			continue;
		least = rank->at_least < least ? rank->at_least : least;
		most = rank->at_most < most ? rank->at_most : most;
		counts = rank->count < counts ? rank->count : counts;
		if (rank->at_most > 0 && rank->at_most < parts.beyond)
			parts.beyond = rank->at_most;
	}
	uint32_t padding = n * parts.most - script->files;
	if (counts < parts.most || least == 0 || most == 0)
		return parts;
	parts.all = script->opened == script->files;
	if (script->kept_again > script->excused + padding)
		return parts;
	if (parts.all && script->repeats <= padding)
		parts.since = most;
	else if (!parts.all && counts > parts.most && script->repeats == 0)
		parts.since = least;
	else
		return parts;
	if (script->repeats > 0 && script->repeated < parts.since)
		parts.since = script->repeated;
	uint32_t hedged = n_hedged(script);
	parts.since = parts.since > script->begun + hedged ? parts.since - hedged
							   : script->begun;
	return parts;
}

/* Moves files that ranks have opened beyond their parts to the next pass. */
void note_parts(
	struct current *current, uint32_t place, enum opened_how how, uint32_t since)
{
	struct script *script = &current->scripts[place];
	struct parts parts = parts_of(current, script);
	uint32_t opened = 0;
	uint32_t part = parts.all ? parts.most : parts.least;
	for (uint32_t i = 0; i < current->n_ranks; i++) {
		struct rank *rank = &current->ranks[i];
		if (rank->script != place)
			continue;
		bool goes_on =
			how == OPENED_NEXT && parts.since != NOBODY && rank->count > part;
		rank->count = goes_on ? rank->count - part : 0;
		rank->at_least = rank->at_most = 0;
		opened += rank->count;
	}
	script->excused =
		script->opens - since > opened ? script->opens - since - opened : 0;
}

/* Counts an open of a rank. mark: the file's before the open. A sampler pads with one file for
 * each rank at most; any other file that is opened again shows that ranks have not begun their
 * parts with the epoch. */
void note_rank(const struct current *current, struct script *script, struct rank *rank,
	uint32_t mark)
{
	struct parts parts = parts_of(current, script);
	if (rank->count < parts.most && mark > script->turned && mark <= parts.beyond) {
		bool pads = 4 * rank->count >= 3 * parts.most;
		bool is_first = mark - script->begun <= script->files / 2;
		script->repeats +=
			pads || (is_first && 2 * rank->count >= parts.most) ? 1 : parts.n;
		if (pads && script->opens <= script->repeated)
			script->repeated = script->opens - 1;
	}
	script->kept_again += rank->count < parts.most && mark > script->begun &&
			      mark <= script->turned;
	rank->count++;
	if (rank->count == parts.least)
		rank->at_least = script->opens;
	if (rank->count == parts.most)
		rank->at_most = script->opens;
}
