// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/array_grow.h"
#include "epoch/epoch_internal.h"

#include <stdlib.h>
#include <string.h>

/*
 * Ranks of a script. A sampler divides the files of a pass into parts, one for each rank. If the
 * number of files is no multiple of the number of ranks, a sampler pads the parts with the first
 * files of the pass, or drops the last files:
 *
 *     files 0 to 6 for 3 ranks     PADS    0 3 6     DROPS    0 3
 *                                          1 4 0              1 4
 *                                          2 5 1              2 5
 *
 * The engine counts each rank's opens since the pass began. An open within the rank's part refutes
 * the division if a rank has already opened the file in this pass. Padding is an exception: a rank
 * may fill up its part with one file that another rank has opened. This must be a file with which a
 * worker of that rank began the pass, because the first files of the pass are the first files of
 * the parts. No two ranks may fill up their parts with files of the same rank. A pass is over when
 * each rank has opened its part of a division that is not refuted, and the parts together have all
 * files (PADS), or as many as the division does not drop (DROPS).
 *
 *   Theorem. If ranks begin a pass with the epoch, and each rank opens its part, then the next
 *   epoch keeps the files of the next pass that ranks have opened before the turn, and no rank
 *   opens a file of the old pass after the turn.
 *   Proof. A rank opens its files one pass after the other, so the open after the part's last one
 *   is the first one of the next pass. These opens are on the list `beyond`, and the next epoch
 *   keeps each file that was opened after the first of them. All ranks have opened their parts.
 *
 * The counts are wrong if a rank has begun the pass with other files, or has broken a pass off.
 * Then files of two passes are counted as one pass. Suppose that J of the counted files are of the
 * wrong pass. If passes are random, some file occurs twice and refutes the divisions, except with a
 * chance of 1 / (N over J). The next epoch keeps the last J files for the least J that makes this
 * chance less than 1 in a million (n_hedged). If passes are in the order of names, the first files
 * occur twice, so both divisions are refuted. Then the ranks keep their samples, which is exact.
 */

/* Bits of script->parts besides those of the divisions. The bit OF_FIRST: a worker has begun the
 * pass with the file. The bits from number OWNER on: the index in current.ranks of this worker's
 * rank. */
enum { OF_FIRST = 1 << DIVISIONS, OWNER = DIVISIONS + 1 };
static_assert(CURRENT_RANKS < 1 << (8 - OWNER), "a rank's place has five bits");

/* Tells whether the rank belongs to the script and still reads: it has opened a file within the
 * job's last N opens, where N is the number of files. */
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

uint32_t files_of_part(
	const struct script *script, uint32_t ranks, enum division division)
{
	return division == PADS ? (script->files - 1) / ranks + 1 : script->files / ranks;
}

static uint32_t least_count(const struct current *current, const struct script *script)
{
	uint32_t least = NOBODY;
	for (uint32_t i = 0; i < current->n_ranks; i++) {
		const struct rank *rank = &current->ranks[i];
		if (is_rank_of(current, script, rank) && rank->count < least)
			least = rank->count;
	}
	return least;
}

enum division division_over(const struct current *current, const struct script *script)
{
	uint32_t n = n_ranks(current, script), count = least_count(current, script);
	uint32_t most = files_of_part(script, n, PADS),
		 least = files_of_part(script, n, DROPS);
	bool pads = !script->refuted[PADS] && n == script->n_ranks;
	bool drops = !script->refuted[DROPS] && n == script->n_ranks;
	if (pads && count >= most && script->parted[PADS] == script->files)
		return PADS;
	pads = pads && count <= most;
	if (drops && !pads && count >= least && least > 0 &&
		script->parted[DROPS] == n * least)
		return DROPS;
	return DIVISIONS;
}

const struct beyond *next_beyond(
	const struct script *script, enum division division, uint32_t *i)
{
	uint32_t part = files_of_part(script, script->n_ranks, division);
	for (; *i < script->n_beyond; (*i)++)
		if (script->beyond[*i].count >= part)
			return &script->beyond[(*i)++];
	return NULL;
}

uint32_t division_since(const struct script *script, enum division division)
{
	uint32_t i = 0, hedged = n_hedged(script);
	const struct beyond *first = next_beyond(script, division, &i);
	uint32_t since = first ? first->mark - 1 : script->opens;
	return since > script->begun + hedged ? since - hedged : script->begun;
}

static void refute(struct script *script)
{
	script->refuted[PADS] = script->refuted[DROPS] = true;
}

static void count_anew(struct current *current, struct script *script)
{
	for (uint32_t i = 0; i < current->n_ranks; i++) {
		struct rank *rank = &current->ranks[i];
		if (rank->script != NOBODY && &current->scripts[rank->script] == script)
			rank->count = rank->pads = rank->padded = 0;
	}
	memset(script->parts, 0, script->files);
	memset(script->parted, 0, sizeof(script->parted));
	memset(script->refuted, 0, sizeof(script->refuted));
}

void begin_parts(struct current *current, struct script *script, enum division over)
{
	uint32_t s = (uint32_t)(script - current->scripts), n = 0, i = 0;
	const struct beyond *next;
	while (over != DIVISIONS && (next = next_beyond(script, over, &i)))
		script->beyond[n++] = *next;
	count_anew(current, script);
	if (over == DIVISIONS && script->n_ranks > 1)
		refute(script);
	script->n_beyond = 0;
	for (i = 0; i < n; i++) {
		/* a copy, because note_rank writes new entries into the same list */
		struct beyond open = script->beyond[i];
		uint32_t r = rank_place(current, s, open.rank);
		uint32_t w = r == NOBODY ? r : worker_place(current, r, open.thread);
		if (w != NOBODY)
			note_rank(current, script, &current->ranks[r],
				&current->workers[w], open.file, open.mark);
	}
}

/* Sets the number of ranks. Refutes both divisions if a rank has gone, or has already opened more
 * files than its part has now. */
static void note_number(const struct current *current, struct script *script, uint32_t n)
{
	if (n < script->n_ranks)
		refute(script);
	script->n_ranks = n;
	for (uint32_t i = 0; i < current->n_ranks; i++)
		if (is_rank_of(current, script, &current->ranks[i]) &&
			current->ranks[i].count > files_of_part(script, n, DROPS))
			refute(script);
}

void note_beyond(struct script *script, const struct beyond *beyond)
{
	if (array_make_room(script->beyond, script->n_beyond, &script->room_beyond))
		script->beyond[script->n_beyond++] = *beyond;
	else
		refute(script);
}

void note_rank(struct current *current, struct script *script, struct rank *rank,
	struct worker *worker, uint32_t file, uint32_t mark)
{
	uint32_t n = n_ranks(current, script);
	if (n != script->n_ranks)
		note_number(current, script, n);
	uint8_t *parts = &script->parts[file];
	uint32_t most = files_of_part(script, n, PADS);
	struct rank *owner = &current->ranks[*parts >> OWNER];
	bool is_padding = rank->count >= most / 2 && *parts & OF_FIRST && !rank->pads &&
			  !owner->padded;
	for (int d = 0; d < DIVISIONS; d++) {
		if (rank->count >= files_of_part(script, n, d))
			continue;
		bool again = *parts & 1 << d;
		script->parted[d] += !again;
		script->refuted[d] |= again && (d == DROPS || !is_padding);
		if (again && d == PADS && is_padding)
			rank->pads = owner->padded = true;
		*parts |= (uint8_t)(1 << d);
	}
	if (rank->count < most && worker->pass != script->turns + 1) {
		worker->pass = script->turns + 1;
		if (!(*parts & OF_FIRST))
			*parts |= (uint8_t)(OF_FIRST | (rank - current->ranks) << OWNER);
	}
	if (n > 1 && rank->count >= files_of_part(script, n, DROPS) &&
		!(script->refuted[PADS] && script->refuted[DROPS]))
		note_beyond(script, &(struct beyond){.rank = rank->id,
					    .thread = worker->id,
					    .file = file,
					    .count = rank->count,
					    .mark = mark});
	rank->count++;
}
