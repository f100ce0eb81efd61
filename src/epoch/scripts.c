// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/epoch_internal.h"

#include <errno.h>

/*
 * What is known of the scripts that read current/: what their passes have had, and how far
 * each thread has come. It changes only by the records of opens, so a replay of these
 * rebuilds it. Of too many, those who have had least or have not opened anything for the
 * longest time are forgotten; these come anew.
 */

#define STRAY_MAX 2
#define HAD_OPENS 4 /* that a script is known longer for a file had */

uint32_t files_of(const struct epochs *epochs, const struct epoch_set *set)
{
	return (set->positions - 1) / epochs->config.file + 1;
}

uint32_t n_files(const struct epochs *epochs, uint32_t epoch)
{
	return files_of(epochs, set_of(epochs, epoch));
}

void current_destroy(struct epochs *epochs)
{
	for (uint32_t i = 0; i < epochs->current.n_scripts; i++)
		for (uint32_t k = 0; k < FILE_KINDS; k++) {
			free(epochs->current.scripts[i].had[0].marks[k]);
			free(epochs->current.scripts[i].had[1].marks[k]);
		}
}

/* --- what is known -------------------------------------------------------------------- */

uint32_t script_place(const struct current *current, uint64_t id)
{
	for (uint32_t i = 0; i < current->n_scripts; i++)
		if (current->scripts[i].id == id)
			return i;
	return NOBODY;
}

uint32_t rank_place(const struct current *current, uint32_t script, uint64_t id)
{
	for (uint32_t i = 0; i < current->n_ranks; i++)
		if (current->ranks[i].id == id && current->ranks[i].script == script)
			return i;
	return NOBODY;
}

uint32_t worker_place(const struct current *current, uint32_t rank, uint64_t id)
{
	for (uint32_t i = 0; i < current->n_workers; i++)
		if (current->workers[i].id == id && current->workers[i].rank == rank)
			return i;
	return NOBODY;
}

static uint32_t had_place(const struct script *script, uint32_t epoch)
{
	for (uint32_t i = 0; i < 2; i++)
		if (script->had[i].marks[FILE_IMAGE] && script->had[i].epoch == epoch)
			return i;
	return NOBODY;
}

const struct had *find_had(const struct script *script, uint32_t epoch)
{
	uint32_t place = had_place(script, epoch);
	return place == NOBODY ? NULL : &script->had[place];
}

uint32_t mark_of(const struct had *had, uint32_t file, enum file_kind kind)
{
	if (!had || file >= had->files)
		return 0;
	uint32_t mark = had->marks[kind] ? had->marks[kind][file] : 0;
	if (mark == 0 && had->before && had->before[file / 8] >> file % 8 & 1)
		return MARK_BEFORE;
	return mark;
}

uint32_t most_had(const struct had *had)
{
	if (!had)
		return 0;
	return had->n[FILE_IMAGE] > had->n[FILE_LABEL] ? had->n[FILE_IMAGE]
						       : had->n[FILE_LABEL];
}

uint32_t n_ranks(const struct current *current, const struct rank *rank)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < current->n_ranks; i++)
		n += current->ranks[i].script == rank->script &&
		     current->ranks[i].pass.epoch + 1 >= rank->pass.epoch;
	return n > 0 ? n : 1;
}

uint32_t count_of(const struct pass *pass, enum file_kind kind)
{
	return pass->opens[kind] - pass->before[kind] - pass->extra[kind];
}

/* --- who comes and goes -------------------------------------------------------------- */

static uint32_t *new_marks(const struct had *had)
{
	return calloc(had->files, sizeof(uint32_t));
}

static void forget_had(struct had *had)
{
	for (uint32_t kind = 0; kind < FILE_KINDS; kind++)
		free(had->marks[kind]);
	*had = (struct had){.epoch = 0};
}

/* In place of that of the earliest epoch. NULL: no memory. */
static struct had *get_had(const struct epochs *epochs, struct script *script,
	uint32_t epoch, enum file_kind kind)
{
	uint32_t place = had_place(script, epoch);
	struct had *had = place == NOBODY ? NULL : &script->had[place];
	if (!had) {
		bool second = script->had[0].marks[FILE_IMAGE] &&
			      (!script->had[1].marks[FILE_IMAGE] ||
				      script->had[1].epoch < script->had[0].epoch);
		had = &script->had[second];
		forget_had(had);
		had->epoch = epoch;
		had->files = n_files(epochs, epoch);
		had->marks[FILE_IMAGE] = new_marks(had);
		if (epochs->current.before && epochs->current.before_epoch == epoch) {
			had->before = epochs->current.before;
			had->n[FILE_IMAGE] = had->n[FILE_LABEL] =
				epochs->current.n_before;
		}
	}
	if (had->marks[FILE_IMAGE] && !had->marks[kind])
		had->marks[kind] = new_marks(had);
	return had->marks[FILE_IMAGE] && had->marks[kind] ? had : NULL;
}

static void forget_script(struct current *current, uint32_t place)
{
	forget_had(&current->scripts[place].had[0]);
	forget_had(&current->scripts[place].had[1]);
	for (uint32_t i = 0; i < current->n_ranks; i++)
		if (current->ranks[i].script == place)
			current->ranks[i] = (struct rank){.script = NOBODY};
}

/* The one that has not opened anything for the longest time goes first, later by the files
 * that it has had: who looks is soon gone, a training may pause. */
static uint32_t place_for_script(const struct current *current)
{
	uint32_t place = 0;
	uint64_t least = UINT64_MAX;
	for (uint32_t i = 0; i < CURRENT_SCRIPTS; i++) {
		const struct script *script = &current->scripts[i];
		uint64_t had = most_had(find_had(script, script->epoch));
		uint64_t until = script->used + HAD_OPENS * had;
		if (until >= least)
			continue;
		least = until;
		place = i;
	}
	return place;
}

static uint32_t get_script(struct current *current, uint64_t id, uint32_t epoch)
{
	uint32_t place = script_place(current, id);
	if (place != NOBODY)
		return place;
	place = current->n_scripts < CURRENT_SCRIPTS ? current->n_scripts++
						     : place_for_script(current);
	forget_script(current, place);
	current->scripts[place] =
		(struct script){.id = id, .since = current->opened, .epoch = epoch};
	return place;
}

static uint32_t get_rank(struct current *current, uint32_t script, uint64_t id)
{
	uint32_t place = rank_place(current, script, id);
	if (place != NOBODY)
		return place;
	place = 0;
	for (uint32_t i = 1; i < current->n_ranks; i++)
		if (current->ranks[i].used < current->ranks[place].used)
			place = i;
	if (current->n_ranks < CURRENT_RANKS)
		place = current->n_ranks++;
	for (uint32_t i = 0; i < current->n_workers; i++)
		if (current->workers[i].rank == place)
			current->workers[i] = (struct worker){.rank = NOBODY};
	current->ranks[place] = (struct rank){
		.id = id, .script = script, .pass.epoch = current->scripts[script].epoch};
	return place;
}

static uint32_t get_worker(struct current *current, uint32_t rank, uint64_t id)
{
	uint32_t place = worker_place(current, rank, id);
	if (place != NOBODY)
		return place;
	place = 0;
	for (uint32_t i = 1; i < current->n_workers; i++)
		if (current->workers[i].used < current->workers[place].used)
			place = i;
	if (current->n_workers < CURRENT_WORKERS)
		place = current->n_workers++;
	current->workers[place] = (struct worker){.id = id,
		.rank = rank,
		.since = current->opened,
		.came = {current->ranks[rank].pass.opens[FILE_IMAGE],
			current->ranks[rank].pass.opens[FILE_LABEL]},
		.number = current->ranks[rank].number,
		.file = NO_FILE,
		.boundary = NO_FILE};
	return place;
}

/* --- an open ------------------------------------------------------------------------- */

static enum file_kind kind_of_open(const struct record *opened)
{
	return opened->label ? FILE_LABEL : FILE_IMAGE;
}

/* A pass was whole, and the epoch does not go on for its script: all of it once more. */
static void note_whole_anew(struct rank *rank)
{
	for (uint32_t i = 0; i < FILE_KINDS; i++) {
		rank->pass.before[i] = rank->pass.opens[i];
		rank->pass.extra[i] = rank->since_next[i] = rank->tried[i] = 0;
	}
}

/* It began after the open that it has repeated just now; stamp: of this one, or 0. */
static void note_anew(const struct epochs *epochs, struct rank *rank, enum file_kind kind,
	uint32_t stamp)
{
	uint64_t ranks = n_ranks(&epochs->current, rank);
	uint32_t opens = rank->pass.opens[kind] - rank->repeats;
	rank->number++;
	rank->padded = false;
	if (2 * ranks * count_of(&rank->pass, kind) >=
		n_files(epochs, rank->pass.epoch)) {
		note_whole_anew(rank);
		return;
	}
	rank->tries++;
	for (uint32_t i = 0; i < FILE_KINDS; i++)
		rank->tried[i] = rank->pass.opens[i];
	rank->pass.before[kind] = rank->repeats > 0 || stamp == 0 ? opens : stamp;
	rank->pass.extra[kind] = 0;
	rank->tried[kind] = opens;
}

/*
 * Twice as many opens from one epoch to the next, and hardly any of the epoch before: all
 * passes are so long. What was taken for repeated just now, and does not fill the part of
 * a rank, belongs to the new pass.
 */
static void note_length(struct rank *rank, enum file_kind kind, uint32_t part)
{
	bool padded = rank->since_next[kind] == part;
	uint32_t repeats =
		padded || rank->repeats > rank->since_next[kind] ? 0 : rank->repeats;
	uint32_t opens = rank->since_next[kind] - repeats;
	rank->regular[kind] = opens > 0 && opens == rank->between[kind] &&
			      rank->late[kind] <= STRAY_MAX;
	rank->pass.length[kind] =
		rank->regular[kind] ? opens : count_of(&rank->last, kind);
	rank->between[kind] = opens;
	rank->since_next[kind] = repeats;
	rank->late[kind] = 0;
}

static void note_next(
	const struct epochs *epochs, struct rank *rank, const struct record *opened)
{
	uint32_t files = n_files(epochs, rank->pass.epoch);
	uint32_t part = (files - 1) / n_ranks(&epochs->current, rank) + 1;
	bool same = set_of(epochs, rank->pass.epoch) == set_of(epochs, opened->epoch);
	rank->behind = rank->number == 0 && opened->how == OPENED_BEHIND;
	rank->number++;
	if (rank->tries < TRIES_MAX)
		rank->tries = 0;
	rank->padded = false;
	rank->has_last = opened->how == OPENED_NEXT;
	rank->last = rank->pass;
	rank->pass = (struct pass){.epoch = opened->epoch};
	rank->since = epochs->current.opened;
	for (uint32_t i = 0; i < FILE_KINDS; i++) {
		rank->tried[i] = 0;
		if (rank->has_last)
			note_length(rank, i, part);
		if (!same) { /* how long passes were says nothing of this one */
			rank->regular[i] = false;
			rank->pass.length[i] = rank->between[i] = 0;
		}
	}
}

/* It has come to its rank's pass, or goes back to the one before. */
static void note_worker(struct worker *worker, struct rank *rank,
	const struct record *opened, uint32_t file)
{
	bool late = opened->how == OPENED_LATE || opened->how == OPENED_TAKEN;
	bool again = opened->how == OPENED_AGAIN;
	if (!again) {
		uint32_t number = rank->number - late;
		if (worker->number != number && !late)
			worker->boundary = worker->file;
		worker->number = number;
		for (uint32_t i = 0; i < FILE_KINDS; i++) {
			if (worker->row[i] > rank->habit[i])
				rank->habit[i] = worker->row[i];
			worker->row[i] = 0;
		}
	}
	worker->row[kind_of_open(opened)]++;
	worker->images |= !opened->label;
	worker->file = file;
	worker->epoch = opened->epoch;
}

/* Of which pass, and the how-manieth of it. */
static void note_file(struct rank *rank, uint32_t place, struct had *had,
	const struct record *opened, uint32_t file, bool own)
{
	enum file_kind kind = kind_of_open(opened);
	uint32_t stamp;
	rank->repeats = opened->how == OPENED_REPEATED ? rank->repeats + 1 : 0;
	rank->since_next[kind] += opened->how != OPENED_AGAIN;
	switch (opened->how) {
	case OPENED_AGAIN: /* perhaps the label of an image, for the first time */
		if (had->marks[kind][file] != 0 || opened->epoch != rank->pass.epoch)
			return;
		rank->since_next[kind]++;
		stamp = ++rank->pass.opens[kind];
		break;
	case OPENED_TAKEN:
		return;
	case OPENED_REPEATED:
		rank->pass.extra[kind] += own;
		rank->padded = true;
		stamp = ++rank->pass.opens[kind];
		break;
	case OPENED_LATE:
		rank->late[kind]++;
		stamp = ++rank->last.opens[kind];
		break;
	default:
		stamp = ++rank->pass.opens[kind];
	}
	uint32_t *mark = &had->marks[kind][file];
	had->n[kind] += mark_of(had, file, kind) == 0;
	*mark = place << STAMP_BITS | (stamp < STAMP_MAX ? stamp : STAMP_MAX);
}

int current_note(struct epochs *epochs, const struct record *opened)
{
	struct current *current = &epochs->current;
	enum file_kind kind = kind_of_open(opened);
	uint32_t file = opened->position / epochs->config.file;
	uint32_t s = get_script(current, opened->reader.script, opened->epoch);
	uint32_t r = get_rank(current, s, opened->reader.rank);
	uint32_t w = get_worker(current, r, opened->reader.thread);
	struct script *script = &current->scripts[s];
	struct rank *rank = &current->ranks[r];
	struct worker *worker = &current->workers[w];
	struct had *had = get_had(epochs, script, opened->epoch, kind);
	if (!had)
		return -ENOMEM;
	script->used = rank->used = worker->used = ++current->opened;
	rank->used_ns = epochs->last_read_ns;
	uint32_t mark = had->marks[kind][file];
	uint32_t stamp = mark >> STAMP_BITS == r ? mark & STAMP_MAX : 0;
	if (opened->how == OPENED_ANEW)
		note_anew(epochs, rank, kind, stamp);
	else if (opened->how == OPENED_NEXT || opened->how == OPENED_BEHIND)
		note_next(epochs, rank, opened);
	else if (opened->how == OPENED_TRIED)
		rank->pass.before[kind] = stamp;
	note_file(rank, r, had, opened, file, stamp > 0);
	note_worker(worker, rank, opened, file);
	if (script->epoch < opened->epoch)
		script->epoch = opened->epoch;
	return 0;
}
