// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sampler/exchange/exchange_internal.h"

#include <errno.h>
#include <string.h>

struct slots *slots_hold(struct slots *slots)
{
	atomic_fetch_add(&slots->references, 1);
	return slots;
}

void slots_put(struct slots **slots)
{
	struct slots *s = *slots;
	*slots = NULL;
	if (!s || atomic_fetch_sub(&s->references, 1) > 1)
		return;
	classes_free(&s->classes);
	free(s->of);
	free(s->id);
	free(s->first);
	free(s);
}

/* Sets the first slot of each class. The classes of one label (without labels: all classes) follow
 * each other in the order of their smallest ids. next: the slot of each label's next class. */
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
	/* the loop above has moved slots->first[class] to the end of the class */
	for (uint32_t class = 0; class < classes->n; class ++)
		slots->first[class] -= classes->size[class];
}

int slots_new(struct classes *given, const struct labels *labels, struct slots **ret)
{
	const struct classes *classes = given;
	/* one more than needed, because an array must not be empty */
	size_t room = (size_t)classes->n_ids + 1;
	size_t n_next = labels ? labels->n : 1;
	auto_free uint32_t *next = calloc(n_next + 1, sizeof(*next));
	struct slots *slots = calloc(1, sizeof(*slots));
	if (!next || !slots) {
		free(slots);
		classes_free(given);
		return -ENOMEM;
	}
	slots->classes = *given;
	classes = &slots->classes;
	atomic_init(&slots->references, 1);
	slots->of = calloc(room, sizeof(*slots->of));
	slots->id = calloc(room, sizeof(*slots->id));
	slots->first = calloc(classes->n, sizeof(*slots->first));
	if (!slots->of || !slots->id || !slots->first) {
		slots_put(&slots);
		return -ENOMEM;
	}
	if (labels)
		memcpy(next, labels->first, n_next * sizeof(*next));
	place_classes(slots, classes, labels, next);
	place_ids(slots, classes);
	*ret = slots;
	return 0;
}

int slots_refine(struct slots *slots, const struct labels *labels, uint32_t n_ids,
	const roaring_bitmap_t *selection, struct slots **ret)
{
	const struct classes *old = &slots->classes;
	struct classes classes;
	int error = classes_copy(old, &classes);
	if (error)
		return error;
	error = classes_cover(&classes, n_ids);
	if (!error)
		error = classes_split(&classes, selection);
	bool same = !error && classes.n == old->n && classes.n_ids == old->n_ids;
	if (error || same) {
		classes_free(&classes);
		*ret = same ? slots_hold(slots) : NULL;
		return error;
	}
	return slots_new(&classes, labels, ret);
}

int slots_translate(
	const struct slots *slots, const struct idset *ids, struct idset **ret)
{
	return idset_from_places(ids, slots->id, slots->classes.n_ids, ret);
}
