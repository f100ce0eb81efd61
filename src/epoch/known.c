// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/epoch_internal.h"

/* Answers questions about a script from what scripts.c has noted about its opens. */

/* A number of moves of a script's threads to another file (up + down). is_in_order returns the
 * result of the previous epoch while the script has made fewer moves than this in the present
 * epoch, and fewer moves than a quarter of the number of files. */
#define ENOUGH_STEPS 32

uint32_t files_of(const struct epochs *epochs, const struct epoch_set *set)
{
	return (set->positions - 1) / epochs->config.file + 1;
}

uint32_t n_files(const struct epochs *epochs, uint32_t epoch)
{
	return files_of(epochs, set_of(epochs, epoch));
}

uint32_t script_place(const struct current *current, uint64_t id)
{
	for (uint32_t i = 0; i < current->n_scripts; i++)
		if (current->scripts[i].id == id && current->scripts[i].marks)
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

bool may_keep(const struct record *opened)
{
	return opened->how == OPENED_NEXT || opened->how == OPENED_KEEPS ||
	       opened->how == OPENED_BEYOND;
}

bool is_opened(const struct script *script, uint32_t file)
{
	return script->marks[file] > script->begun;
}

bool opened_since_turn(const struct script *script, uint32_t file)
{
	return script->marks[file] > script->turned;
}

bool has_looked(const struct script *script, const struct worker *worker)
{
	return worker->looked < script->files && worker->looked_turns == script->turns &&
	       !opened_since_turn(script, worker->looked);
}

bool is_new_image(const struct script *script, const struct record *opened, uint32_t file)
{
	return !opened->label && opened->epoch == script->epoch && file < script->files &&
	       !is_opened(script, file);
}

bool is_whole(const struct script *script)
{
	return script->opens - script->run == script->files;
}

bool is_in_order(const struct script *script)
{
	uint32_t steps = script->up + script->down;
	if (script->turns > 0 && steps < script->files / 4 && steps < ENOUGH_STEPS)
		return script->was_in_order;
	return steps > 0 && (steps >= 4 || steps + 1 >= script->files) &&
	       12 * (uint64_t)script->down <= steps;
}

bool is_worker_of(const struct current *current, const struct worker *worker,
	const struct script *script)
{
	return worker->rank != NOBODY && current->ranks[worker->rank].script != NOBODY &&
	       &current->scripts[current->ranks[worker->rank].script] == script;
}

uint32_t other_half(
	const struct current *current, uint32_t rank, uint32_t file, bool label)
{
	uint32_t last = NOBODY;
	for (uint32_t i = 0; i < current->n_workers; i++) {
		const struct worker *worker = &current->workers[i];
		if (worker->rank == rank && worker->file == file &&
			worker->row[label] == 0 && (label || !worker->images) &&
			worker->used + RECENT_OPENS >= current->opened &&
			(last == NOBODY || worker->used > current->workers[last].used))
			last = i;
	}
	return last;
}

bool is_only_label(const struct script *script, const struct worker *worker, bool label)
{
	return label && !(worker ? worker->images : script->labels_of_images);
}
