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
	fputc('\n', out);
}

static void print_current(const struct epochs *epochs, FILE *out)
{
	const struct current *current = &epochs->current;
	fprintf(out,
		"consumed %" PRIu64 " habit %" PRIu32 " begun %" PRIu32 " opened %" PRIu64
		" pass %" PRIu32 " %" PRIu32 " %d %" PRIu64 " %" PRIu64 "\n",
		current->consumed, current->habit, current->begun, current->opened,
		current->pass.epoch, current->pass.repeats, current->pass.by_others,
		current->pass.floor, current->pass.since);
	for (uint32_t i = 0; i < current->window; i++)
		fprintf(out, " %" PRIu32 ":%" PRIu32, current->recent[i].epoch,
			current->recent[i].position);
	fputc('\n', out);
	for (uint32_t i = 0; i < current->n_readers; i++) {
		const struct reader *reader = &current->readers[current->latest[i]];
		fprintf(out,
			"reader %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu32
			" %d %d %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			reader->id, reader->unit, reader->epoch, reader->opens,
			reader->read_more, reader->repeated, reader->consumed,
			reader->opened, reader->since);
	}
	for (uint32_t i = 0; current->stamps && i < epochs->config.positions; i++)
		fprintf(out, " %" PRIu32, current->stamps[i]);
	fputc('\n', out);
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
