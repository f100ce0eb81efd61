// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "edition/edition.h"
#include "supply/supply.h"

struct part *part_of(const struct edition *edition, sample_id sample)
{
	size_t i = edition->n_parts - 1;
	while (i > 0 && sample < edition->parts[i].first)
		i--;
	return &edition->parts[i];
}

const struct part *edition_part_of(const struct edition *edition, const void *of)
{
	for (size_t i = 0; i < edition->n_parts; i++) {
		const struct part *part = &edition->parts[i];
		if (part->source == of || part->source->dataset == of ||
			part->space == of)
			return part;
	}
	return NULL;
}
