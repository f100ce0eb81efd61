// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/epoch_internal.h"

/* Finds the open with which the last pass of a script began. The next epoch keeps the
 * samples of the files that the script has opened since this open; current.c proves that
 * the turn is then exact. */

#define HEDGE (1u << 20)

uint32_t n_hedged(const struct script *script)
{
	uint32_t n = script->files, j = 0;
	double rows = 1;
	if (n < FEW_MOST)
		return n / 8;
	while (rows < HEDGE && j < n / 2) {
		j++;
		rows *= (double)(n - j + 1) / j;
	}
	return j;
}

bool begins_row(const struct current *current, const struct script *script, uint32_t file)
{
	for (uint32_t i = 0; i < current->n_workers; i++) {
		const struct worker *worker = &current->workers[i];
		if (is_worker_of(current, worker, script) && worker->start == file &&
			worker->file != NO_FILE)
			return true;
	}
	return false;
}

/* Returns the N of current_since if files are opened in order, and `file` is opened once more. The
 * rows that had begun before the last open of `file` belong to the previous pass. N is the number
 * of counted opens up to the last open of these rows, if another row has begun later. Otherwise no
 * open belongs to the new pass yet, and N is script->opens. */
static uint32_t since_rows(
	const struct current *current, const struct script *script, uint32_t file)
{
	uint32_t ended = script->begun;
	for (uint32_t i = 0; i < current->n_workers; i++) {
		const struct worker *worker = &current->workers[i];
		if (is_worker_of(current, worker, script) &&
			worker->began < script->marks[file] && worker->last > ended)
			ended = worker->last;
	}
	for (uint32_t i = 0; i < current->n_workers; i++) {
		const struct worker *worker = &current->workers[i];
		if (is_worker_of(current, worker, script) && worker->began >= ended &&
			worker->last > ended)
			return ended;
	}
	return script->opens;
}

/* The passes of several workers may overlap; then the last pass has begun before the run, by at
 * most as many opens as were made since the run began. The run counts as begun at `rows_begun` if
 * that is earlier. */
uint32_t since_run(const struct script *script)
{
	uint32_t since =
		script->rows_begun < script->run ? script->rows_begun : script->run;
	uint32_t margin = script->opens - since;
	return since - script->begun > margin ? since - margin : script->begun;
}

/* Returns the N of current_since, without regard to files that got a new mark although the open was
 * not counted (note_again). */
static uint32_t since_counted(const struct epochs *epochs, const struct worker *worker,
	const struct record *opened)
{
	const struct current *current = &epochs->current;
	const struct script *script =
		&current->scripts[script_place(current, opened->reader.script)];
	uint32_t file = opened->position / epochs->config.file;
	uint32_t since = script->opens, hedged = n_hedged(script);
	if (opened->how == OPENED_KEEPS)
		return since_run(script);
	if (opened->how != OPENED_NEXT)
		return since;
	if (n_ranks(current, script) > 1) {
		enum division over = division_over(current, script);
		return over == DIVISIONS ? since : division_since(script, over);
	}
	bool in_order = is_in_order(script);
	bool is_new = !worker || worker->file == NO_FILE;
	uint32_t mark = script->marks[file];
	if (in_order && script->odd <= mark &&
		(is_new || begins_row(current, script, file))) {
		uint32_t newest = mark > script->newest ? mark : script->newest;
		since = since_rows(current, script, file);
		since = since > mark ? since : mark;
		return since < newest ? since : newest;
	}
	if (script->whole == 0 && in_order)
		return mark > script->run ? mark : script->run;
	if (script->whole == 0)
		return since;
	since = script->whole > hedged ? script->whole - hedged : 0;
	since = since < script->newest ? since : script->newest;
	return since > mark ? since : mark;
}

uint32_t current_since(const struct epochs *epochs, const struct worker *worker,
	const struct record *opened)
{
	const struct current *current = &epochs->current;
	const struct script *script =
		&current->scripts[script_place(current, opened->reader.script)];
	uint32_t since = since_counted(epochs, worker, opened);
	bool doubted = may_keep(opened) && script->doubted == script->opens;
	return doubted && since == script->opens && since > 0 ? since - 1 : since;
}
