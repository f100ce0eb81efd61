// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "state/import.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

void places_free(struct places *places)
{
	free(places->ids);
	free(places->places);
}

int places_find(const struct edition *edition, struct places *ret)
{
	uint32_t n = (uint32_t)roaring_bitmap_get_cardinality(edition->selection);
	uint32_t n_ids = dataset_ids(edition->is.dataset);
	*ret = (struct places){.n = n,
		.ids = calloc(n, sizeof(*ret->ids)),
		.places = calloc((size_t)n_ids + 1, sizeof(*ret->places))};
	int err = ret->ids && ret->places ? 0 : -ENOMEM;
	if (!err)
		err = dataset_by_path(edition->is.dataset, edition->selection, ret->ids,
			&ret->fingerprint);
	for (uint32_t i = 0; i < n && !err; i++)
		ret->places[ret->ids[i]] = i;
	if (err)
		places_free(ret);
	return err;
}

#define TEXT_BYTES (CHECKPOINT_BYTES + 128)

/* Parses the line about the orders. Returns the text after it, or NULL if there is no such line. */
static const char *take_orders(const char *text, struct import_head *ret)
{
	int used = 0, of_rank = 0;
	if (sscanf(text, "orders %u kind %u paths %16" SCNx64 "%n", &ret->n_orders,
		    &ret->kind, &ret->fingerprint, &used) != 3)
		return NULL;
	text += used;
	ret->ranks = 0;
	if (sscanf(text, " rank %" SCNu32 " of %" SCNu32 " batch %" SCNu32 "%n",
		    &ret->rank, &ret->ranks, &ret->batch, &of_rank) == 3)
		text += of_rank;
	return *text == '\n' ? text + 1 : NULL;
}

int import_read_head(
	const struct adding *adding, uint64_t *offset, struct import_head *ret)
{
	char text[TEXT_BYTES + 1], message[200] = "";
	const char *end;
	ssize_t n = pread(adding->fd, text, TEXT_BYTES, (off_t)*offset);
	if (n < 0)
		return import_refuse(
			adding, "%s: can't be read: %s", adding->file, strerror(errno));
	text[n] = '\0';
	if (checkpoint_parse(text, &ret->from, &end, message) != 0)
		return import_refuse(adding, "%s: not written by joaderctl export: %s",
			adding->file, message);
	end = take_orders(end, ret);
	if (!end)
		return import_refuse(adding,
			"%s: found a checkpoint, which has no orders, allowed: a file "
			"written by joaderctl export",
			adding->file);
	*offset += (uint64_t)(end - text);
	return 0;
}
