// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/composite.h"
#include "base/ensure.h"

void composite_segment(
	const struct composite *composite, uint64_t offset, struct segment *ret)
{
	uint64_t end = composite->head + composite->n * composite->stride;
	ensure(offset < composite->bytes);
	if (offset < composite->head) {
		*ret = (struct segment){
			.kind = SEGMENT_CONSTANT, .bytes = composite->head};
	} else if (offset >= end) {
		*ret = (struct segment){.kind = SEGMENT_ZEROS,
			.begin = end,
			.bytes = composite->bytes - end,
			.index = composite->n};
	} else {
		uint64_t index = (offset - composite->head) / composite->stride;
		uint64_t begin = composite->head + index * composite->stride;
		*ret = (struct segment){.index = (uint32_t)index};
		composite->rules->record(composite, offset - begin, ret);
		ret->begin += begin;
	}
	ensure(offset >= ret->begin && offset - ret->begin < ret->bytes);
}

void composite_constant(const struct composite *composite, const struct segment *segment,
	uint8_t ret[COMPOSITE_CONSTANT])
{
	ensure(segment->kind == SEGMENT_CONSTANT && segment->bytes <= COMPOSITE_CONSTANT);
	composite->rules->constant(composite, segment, ret);
}

uint32_t composite_files(uint32_t samples, uint32_t each, bool drop_last)
{
	return samples / each + (!drop_last && samples % each != 0);
}
