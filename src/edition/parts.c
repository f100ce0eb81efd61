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

const struct part *edition_part_of(
	const struct edition *edition, const struct dataset *dataset)
{
	for (size_t i = 0; i < edition->n_parts; i++)
		if (edition->parts[i].source->dataset == dataset)
			return &edition->parts[i];
	return NULL;
}

const struct part *edition_part_in(
	const struct edition *edition, const struct space *space)
{
	for (size_t i = 0; i < edition->n_parts; i++)
		if (edition->parts[i].space == space)
			return &edition->parts[i];
	return NULL;
}
