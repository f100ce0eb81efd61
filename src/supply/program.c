// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "supply/supply_internal.h"

/* Samples that programs prepare (prepare/prepare.h) have a stage of their own, so that a slow or
 * hanging program holds up no decoder and no other program. A program with n processes prepares up
 * to n samples at once. Meanwhile at most n more samples are read ahead for the program, because
 * they take room that samples for the decoders need, too. */

#define TAKEN_PER_PROCESS 2

static struct program_load *load_of(const struct wanted *wanted)
{
	const struct prepared_array *array = wanted->key.space->preparation.array;
	struct supply *supply = wanted->key.space->source->supply;
	return array ? &supply->program_loads[array->number] : NULL;
}

void program_change_taken(const struct wanted *wanted, int taken)
{
	struct program_load *load = load_of(wanted);
	if (load)
		load->taken += (unsigned)taken;
}

bool program_has_room(const struct wanted *wanted)
{
	const struct program_load *load = load_of(wanted);
	return !load || load->taken < TAKEN_PER_PROCESS * load->processes;
}

bool program_may_run(const struct wanted *wanted)
{
	const struct program_load *load = load_of(wanted);
	return load && load->running < load->processes;
}

void program_begin(const struct wanted *wanted)
{
	struct program_load *load = load_of(wanted);
	if (load)
		load->running++;
}

void program_end(struct supply *supply, const struct wanted *wanted)
{
	struct program_load *load = load_of(wanted);
	if (!load)
		return;
	ensure(load->running > 0);
	load->running--;
	/* supply_done, which is called next, makes room to read ahead. */
	supply->effects.reads = true;
}
