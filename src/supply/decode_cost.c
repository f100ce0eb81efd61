// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"
#include "supply/supply.h"

/* The decode time of a sample of a space. */

#define FIRST_COST_NS UINT64_C(2000000) /* cost of a sample, before one is measured */
#define OLD_PARTS 7			/* weight of the old mean, beside a new value */

uint64_t shares_cost(const struct space *space)
{
	return space->cost_ns ? space->cost_ns : FIRST_COST_NS;
}

void shares_mean(uint64_t *mean, uint64_t value)
{
	uint64_t old = *mean ? *mean : value;
	*mean = (OLD_PARTS * old + value) / (OLD_PARTS + 1);
}

void shares_note_cost_locked(struct space *space, uint64_t decode_ns)
{
	lock_assert_held(&space->source->sched->lock);
	shares_mean(&space->cost_ns, decode_ns);
	shares_mean(&space->source->sched->cost_ns, decode_ns);
	space->source->sched->decoded_ns += decode_ns;
}
