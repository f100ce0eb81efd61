// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/epoch_internal.h"

#include <inttypes.h>

/* Prints the state that a replay rebuilds, without the state that ends with the process. */

static void print_epoch(const struct epochs *epochs, const struct epoch *epoch, FILE *out)
{
	struct order order = epochs_order(epochs, epoch->number);
	fprintf(out, "epoch %" PRIu32 "%s%s%s bound %" PRIu32 " consumed %" PRIu32 "\n",
		epoch->number, epoch == epochs->running ? " running" : "",
		epoch == epochs->draining ? " draining" : "", epoch->over ? " over" : "",
		epoch->bound, epoch->consumed);
	for (uint32_t k = 0; k < epoch->bound; k++) {
		struct binding binding = order_binding(&order, k);
		fprintf(out, " %" PRIu32 "=%" PRIu32 "/%u%s", binding.position,
			binding.sample, binding.served,
			epoch_has_consumed(epoch, binding.position) ? "c" : "");
	}
	for (uint32_t k = 0; k < epoch->consumed; k++)
		fprintf(out, " r%" PRIu32, epoch->reads[k]);
	fputc('\n', out);
}

static void print_script(const struct script *script, FILE *out)
{
	fprintf(out,
		"script %" PRIu64 " %" PRIu64 " %" PRIu64 " at %" PRIu32 " %" PRIu32
		" begun %" PRIu32 " %" PRIu32 " %" PRIu32 " run %" PRIu32
		" opened %" PRIu32 " whole %" PRIu32 " %" PRIu32 " streak %" PRIu32
		" %" PRIu32 " parts %" PRIu32 " %" PRIu32 " %d %d beyond %" PRIu32
		" steps %" PRIu32 " %" PRIu32 " of %" PRIu32 " %" PRIu32 " odd %" PRIu32
		" %" PRIu32 " labels %" PRIu32 " %" PRIu32
		" %d %d behind %d batch %" PRIu32 " doubted %" PRIu32 " habit %" PRIu32
		" %" PRIu32 " %d\n",
		script->id, script->since, script->used, script->epoch, script->turns,
		script->begun, script->begun_before, script->turned, script->run,
		script->opened, script->first, script->whole, script->streak,
		script->streak_begun, script->parted[PADS], script->parted[DROPS],
		script->refuted[PADS], script->refuted[DROPS], script->n_beyond,
		script->up, script->down, script->step, script->last_step, script->odd,
		script->odds, script->labels, script->labels_before,
		script->labels_of_images, script->labels_first, script->behind,
		script->batch, script->doubted, script->habit[FILE_IMAGE],
		script->habit[FILE_LABEL], script->labels_after);
	for (uint32_t i = 0; i < script->files; i++)
		fprintf(out, " %" PRIx32, script->marks[i]);
	fputc('\n', out);
}

static void print_current(const struct epochs *epochs, FILE *out)
{
	const struct current *current = &epochs->current;
	if (current->went_back)
		fprintf(out, "went back to %" PRIu32 " before %" PRIu32 "\n",
			current->before_epoch, current->n_before);
	fprintf(out, "opened %" PRIu64 " begun %" PRIu64 "\n", current->opened,
		current->begun);
	for (uint32_t i = 0; i < current->n_scripts; i++)
		print_script(&current->scripts[i], out);
	for (uint32_t i = 0; i < current->n_ranks; i++) {
		const struct rank *rank = &current->ranks[i];
		fprintf(out,
			"rank %" PRIu64 " %" PRIu64 " %u count %" PRIu32
			" padding %d %d\n",
			rank->id, rank->used, rank->script, rank->count, rank->pads,
			rank->padded);
	}
	for (uint32_t i = 0; i < current->n_workers; i++) {
		const struct worker *worker = &current->workers[i];
		fprintf(out,
			"worker %" PRIu64 " %" PRIu64 " %u %" PRIu32 " %" PRIu32
			" %" PRIu32 " %" PRIu32 " began %" PRIu32 " %" PRIu32 " %" PRIu32
			" looked %" PRIu32 " batch %" PRIu32 " %d %d %d\n",
			worker->id, worker->used, worker->rank, worker->file,
			worker->epoch, worker->row[0], worker->row[1], worker->began,
			worker->row_began, worker->start, worker->looked, worker->batch,
			worker->images, worker->late, worker->doubted);
	}
}

void epochs_print(const struct epochs *epochs, FILE *out)
{
	uint32_t number;
	BITMAP_FOREACH (number, epochs->saved)
		fprintf(out, "saved %" PRIu32 "\n", number);
	number = UINT32_MAX;
	while ((number = epochs_next_live(epochs, number)) != UINT32_MAX)
		if (!find_epoch(epochs, number)->saved)
			print_epoch(epochs, find_epoch(epochs, number), out);
	print_current(epochs, out);
}
