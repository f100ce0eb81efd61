// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/epoch_internal.h"

#include <inttypes.h>

/* What a replay rebuilds, and nothing that ends with the process. */

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

static void print_marks(const struct had *had, FILE *out)
{
	for (uint32_t kind = 0; kind < FILE_KINDS; kind++) {
		if (!had->marks[kind])
			continue;
		fprintf(out, " had %" PRIu32 " %" PRIu32 ":", had->epoch, had->n[kind]);
		for (uint32_t i = 0; i < had->files; i++)
			fprintf(out, " %" PRIx32, had->marks[kind][i]);
		fputc('\n', out);
	}
}

static void print_pass(const struct pass *pass, FILE *out)
{
	fprintf(out, " %" PRIu32, pass->epoch);
	for (uint32_t kind = 0; kind < FILE_KINDS; kind++)
		fprintf(out, " %" PRIu32 "-%" PRIu32 "-%" PRIu32 "/%" PRIu32,
			pass->opens[kind], pass->before[kind], pass->extra[kind],
			pass->length[kind]);
}

static void print_rank(const struct rank *rank, FILE *out)
{
	fprintf(out, "rank %" PRIu64 " %" PRIu64 " %u %" PRIu32 " %d %d:", rank->id,
		rank->used, rank->script, rank->number, rank->has_last, rank->padded);
	print_pass(&rank->pass, out);
	print_pass(&rank->last, out);
	fprintf(out,
		" %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32
		"\n",
		rank->tried[0], rank->tried[1], rank->tries, rank->repeats,
		rank->habit[0], rank->habit[1]);
}

static void print_current(const struct epochs *epochs, FILE *out)
{
	const struct current *current = &epochs->current;
	if (current->went_back)
		fprintf(out, "went back to %" PRIu32 " before %" PRIu32 "\n",
			current->before_epoch, current->n_before);
	fprintf(out, "opened %" PRIu64 " begun %" PRIu64 "\n", current->opened,
		current->begun);
	for (uint32_t i = 0; i < current->n_scripts; i++) {
		const struct script *script = &current->scripts[i];
		fprintf(out, "script %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32 "\n",
			script->id, script->since, script->used, script->epoch);
		print_marks(&script->had[0], out);
		print_marks(&script->had[1], out);
	}
	for (uint32_t i = 0; i < current->n_ranks; i++)
		print_rank(&current->ranks[i], out);
	for (uint32_t i = 0; i < current->n_workers; i++) {
		const struct worker *worker = &current->workers[i];
		fprintf(out,
			"worker %" PRIu64 " %" PRIu64 " %u %" PRIu32 " %" PRIu32
			" %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %d\n",
			worker->id, worker->used, worker->rank, worker->number,
			worker->file, worker->epoch, worker->row[0], worker->row[1],
			worker->boundary, worker->images);
	}
}

void epochs_print(const struct epochs *epochs, FILE *out)
{
	roaring_uint32_iterator_t *numbers;
	numbers = roaring_create_iterator(epochs->saved);
	for (; numbers->has_value; roaring_advance_uint32_iterator(numbers))
		fprintf(out, "saved %" PRIu32 "\n", numbers->current_value);
	roaring_free_uint32_iterator(numbers);
	for (uint32_t first = 0; first != UINT32_MAX;) { /* ascending */
		const struct epoch *epoch, *least = NULL;
		LIST_FOREACH (epoch, &epochs->live, link)
			if (!epoch->saved && epoch->number >= first &&
				(!least || epoch->number < least->number))
				least = epoch;
		if (least)
			print_epoch(epochs, least, out);
		first = least ? least->number + 1 : UINT32_MAX;
	}
	print_current(epochs, out);
}
