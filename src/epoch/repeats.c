// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/epoch_internal.h"

/* Finds opens that need not be recorded: if a thread opens one file of current/ more than ROW_MOST
 * times in a row, further opens are recorded neither in memory nor in the journal. But an open is
 * recorded again once other threads have made NOTED_BETWEEN opens: otherwise the script would seem
 * to have stopped. */

#define NOTED_BETWEEN 32

/* Tells whether a look need not be recorded: the file is not one of the script's epoch, or the
 * script has opened the file since its last turn, or the worker's last look was at this file. A
 * look (OPENED_LOOKED) is an open that belongs to no pass: a process that has workers to read
 * its files opens a file itself. */
static bool looks_again(const struct script *script, const struct worker *worker,
	const struct record *opened, uint32_t file)
{
	if (opened->epoch != script->epoch || file >= script->files ||
		opened_since_turn(script, file))
		return true;
	return worker && has_looked(script, worker) && worker->looked == file;
}

bool current_says_it(struct epochs *epochs, const struct record *opened)
{
	struct current *current = &epochs->current;
	uint32_t file = opened->position / epochs->config.file;
	uint32_t s = script_place(current, opened->reader.script), r = NOBODY, w = NOBODY;
	if ((opened->how == OPENED_AGAIN || opened->how == OPENED_LOOKED) && s != NOBODY)
		r = rank_place(current, s, opened->reader.rank);
	if (r != NOBODY)
		w = worker_place(current, r, opened->reader.thread);
	if (opened->how == OPENED_LOOKED)
		return looks_again(&current->scripts[s],
			w == NOBODY ? NULL : &current->workers[w], opened, file);
	if (w == NOBODY)
		return false;
	struct script *script = &current->scripts[s];
	const struct worker *worker = &current->workers[w];
	if (worker->file != file || worker->epoch != opened->epoch ||
		worker->stays < ROW_MOST ||
		current->opened - worker->used >= NOTED_BETWEEN ||
		is_new_image(script, opened, file))
		return false;
	script->used_ns = epochs->last_read_ns;
	script->ended = false;
	return true;
}
