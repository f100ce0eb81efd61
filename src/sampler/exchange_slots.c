// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sampler/exchange_internal.h"

#include <errno.h>
#include <string.h>

void slots_free(struct slots *slots)
{
	free(slots->of);
	free(slots->id);
	free(slots->first);
	*slots = (struct slots){0};
}

/*
 * Within a label, or if there are none within all, classes come in the order of their
 * smallest ids. next: by label, where its next class begins.
 */
static void place_classes(struct slots *slots, const struct classes *classes,
	const struct labels *labels, uint32_t *next)
{
	for (uint32_t class = 0; class < classes->n; class ++)
		slots->first[class] = NONE;
	for (uint32_t id = 0; id < classes->n_ids; id++) {
		uint32_t class = classes->of[id];
		uint32_t *begin = &next[labels ? labels->label[id] : 0];
		if (slots->first[class] != NONE)
			continue;
		slots->first[class] = *begin;
		*begin += classes->size[class];
		slots->n_classes++;
	}
}

static void place_ids(struct slots *slots, const struct classes *classes)
{
	for (uint32_t id = 0; id < classes->n_ids; id++) {
		uint32_t slot = slots->first[classes->of[id]]++;
		slots->of[id] = slot;
		slots->id[slot] = id;
	}
	/* Each has moved to the end of its class. */
	for (uint32_t class = 0; class < classes->n; class ++)
		slots->first[class] -= classes->size[class];
}

int slots_new(
	const struct classes *classes, const struct labels *labels, struct slots *ret)
{
	size_t room = (size_t)classes->n_ids + 1; /* none of them is empty */
	size_t n_next = labels ? labels->n : 1;
	auto_free uint32_t *next = calloc(n_next + 1, sizeof(*next));
	*ret = (struct slots){.n = classes->n_ids};
	ret->of = calloc(room, sizeof(*ret->of));
	ret->id = calloc(room, sizeof(*ret->id));
	ret->first = calloc(classes->n, sizeof(*ret->first));
	if (!next || !ret->of || !ret->id || !ret->first) {
		slots_free(ret);
		return -ENOMEM;
	}
	if (labels)
		memcpy(next, labels->first, n_next * sizeof(*next));
	place_classes(ret, classes, labels, next);
	place_ids(ret, classes);
	return 0;
}

int slots_translate(
	const struct slots *slots, const struct idset *ids, struct idset **ret)
{
	return idset_from_places(ids, slots->id, slots->n, ret);
}
