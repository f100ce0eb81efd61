// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/epoch_internal.h"

/* Finds the scripts that read current/ now, and the epochs that they still need. */

static bool has_read(const struct script *script, uint64_t now_ns)
{
	return script->used_ns + PAUSE_NS >= now_ns;
}

bool epochs_current_is_read(const struct epochs *epochs, uint64_t now_ns)
{
	const struct current *current = &epochs->current;
	for (uint32_t i = 0; i < current->n_scripts; i++)
		if (has_read(&current->scripts[i], now_ns))
			return true;
	return false;
}

bool current_belongs_to_another(
	const struct epochs *epochs, const struct open_request *request, uint64_t now_ns)
{
	const struct current *current = &epochs->current;
	for (uint32_t i = 0; i < current->n_scripts; i++) {
		const struct script *script = &current->scripts[i];
		if (script->id != request->reader.script && !script->ended &&
			script->turns + script->opened > 1 && has_read(script, now_ns) &&
			find_epoch(epochs, script->epoch))
			return true;
	}
	return false;
}

bool current_needs_draining(const struct epochs *epochs, uint64_t now_ns)
{
	const struct current *current = &epochs->current;
	for (uint32_t i = 0; epochs->draining && i < current->n_ranks; i++) {
		const struct rank *rank = &current->ranks[i];
		const struct script *script =
			rank->script == NOBODY ? NULL : &current->scripts[rank->script];
		if (script && script->epoch == epochs->draining->number &&
			!script->ended && has_read(script, now_ns))
			return true;
	}
	return false;
}

bool shares_epoch(const struct epochs *epochs, const struct script *script)
{
	const struct current *current = &epochs->current;
	for (uint32_t i = 0; i < current->n_scripts; i++) {
		const struct script *other = &current->scripts[i];
		if (other != script && other->epoch == script->epoch && !other->ended &&
			other->used + script->files >= current->opened)
			return true;
	}
	return false;
}

bool strands_another(const struct epochs *epochs, const struct script *script)
{
	const struct current *current = &epochs->current;
	for (uint32_t i = 0; epochs->draining && i < current->n_scripts; i++) {
		const struct script *other = &current->scripts[i];
		if (other == script || other->epoch != epochs->draining->number ||
			other->ended || is_whole(other))
			continue;
		bool older =
			!script || (other->turns > 0 && other->since < script->since);
		bool pauses =
			!script && other->used_ns + PAUSE_NS >= epochs->last_read_ns;
		if (older && (other->used > current->begun || pauses))
			return true;
	}
	return false;
}
