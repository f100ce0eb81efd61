// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sampler/exchange/exchange_internal.h"

#include <errno.h>

/* Merges classes that differ only in the selections of removed jobs. Classes can be merged only
 * while there is no stream, and no sample is resident: exchange.c has the reason.
 * sampler_coarsening_prepare makes all classes anew from the labels, and the selections of present
 * jobs. This takes long, so it runs without the lock. It works with the slots (the order of ids by
 * class) and the members (the jobs) to which sampler_coarsening_new has taken references. */

struct sampler_coarsening {
	const struct labels *labels;
	struct slots *slots; /* the sampler's slots at sampler_coarsening_new */
	struct slots *coarser;
	uint64_t changes; /* exchange->changes at sampler_coarsening_new */
	struct member **members;
	size_t n_members;
};

static bool may_coarsen(const struct sampler *sampler)
{
	const struct exchange *e = sampler->exchange;
	if (!e || !e->too_fine || sampler->n)
		return false;
	for (size_t i = 0; i < e->n_residencies; i++)
		if (e->residencies[i]->n)
			return false;
	return true;
}

int sampler_coarsening_new(const struct sampler *sampler, struct sampler_coarsening **ret)
{
	const struct exchange *e = sampler->exchange;
	*ret = NULL;
	if (!may_coarsen(sampler))
		return 0;
	struct sampler_coarsening *coarsening = calloc(1, sizeof(*coarsening));
	if (!coarsening)
		return -ENOMEM;
	*coarsening = (struct sampler_coarsening){.labels = e->labels,
		.slots = slots_hold(e->slots),
		.changes = e->changes,
		.members = calloc(e->n_members + 1, sizeof(struct member *))};
	if (!coarsening->members) {
		sampler_coarsening_free(&coarsening);
		return -ENOMEM;
	}
	for (size_t i = 0; i < e->n_members; i++)
		coarsening->members[coarsening->n_members++] = member_hold(e->members[i]);
	*ret = coarsening;
	return 0;
}

void sampler_coarsening_free(struct sampler_coarsening **pointer)
{
	struct sampler_coarsening *coarsening = *pointer;
	*pointer = NULL;
	if (!coarsening)
		return;
	for (size_t i = 0; i < coarsening->n_members; i++)
		member_put(&coarsening->members[i]);
	free(coarsening->members);
	slots_put(&coarsening->slots);
	slots_put(&coarsening->coarser);
	free(coarsening);
}

int sampler_coarsening_prepare(struct sampler_coarsening *coarsening)
{
	const struct labels *labels = coarsening->labels;
	struct classes classes;
	int error = classes_new(&classes, labels, coarsening->slots->classes.n_ids);
	if (error)
		return error;
	for (size_t i = 0; !error && i < coarsening->n_members; i++)
		error = classes_split(&classes, coarsening->members[i]->selection);
	if (!error)
		return slots_new(&classes, labels, &coarsening->coarser);
	classes_free(&classes);
	return error;
}

int sampler_coarsen(struct sampler *sampler, struct sampler_coarsening *coarsening)
{
	struct exchange *e = sampler->exchange;
	if (!may_coarsen(sampler) || e->slots != coarsening->slots ||
		e->changes != coarsening->changes)
		return -EAGAIN;
	slots_put(&e->slots); /* `coarsening` still has a reference to the old slots */
	e->slots = slots_hold(coarsening->coarser);
	e->too_fine = false;
	return 0;
}
