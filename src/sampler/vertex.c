// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sampler/sampler_internal.h"

sample_id vertex_select(const struct vertex *vertex, uint32_t rank)
{
	uint32_t element;
	ensure(roaring_bitmap_select(vertex->ids, rank, &element));
	return element;
}

bool vertex_contains(const struct vertex *vertex, sample_id sample)
{
	return vertex->size && roaring_bitmap_contains(vertex->ids, sample);
}

void vertex_add(struct vertex *vertex, sample_id sample)
{
	roaring_bitmap_add(vertex->ids, sample);
	vertex->size++;
}

void vertex_take(struct vertex *vertex, sample_id sample)
{
	ensure(vertex->size);
	roaring_bitmap_remove(vertex->ids, sample);
	vertex->size--;
}
