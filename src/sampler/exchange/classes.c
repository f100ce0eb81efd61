// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/array_grow.h"
#include "sampler/exchange/exchange_internal.h"

#include <errno.h>
#include <string.h>

/* Divides ids into classes: the same jobs have selected all ids of a class, and these ids have the
 * same label. */

void classes_free(struct classes *classes)
{
	free(classes->of);
	free(classes->size);
	*classes = (struct classes){0};
}

int classes_copy(const struct classes *classes, struct classes *ret)
{
	*ret = (struct classes){.n_ids = classes->n_ids, .n = classes->n};
	ret->of = calloc((size_t)classes->n_ids + 1, sizeof(*ret->of));
	ret->size = calloc(classes->n, sizeof(*ret->size));
	if (!ret->of || !ret->size) {
		classes_free(ret);
		return -ENOMEM;
	}
	if (classes->n_ids)
		memcpy(ret->of, classes->of, classes->n_ids * sizeof(*ret->of));
	memcpy(ret->size, classes->size, classes->n * sizeof(*ret->size));
	return 0;
}

int classes_cover(struct classes *classes, uint32_t n_ids)
{
	if (n_ids <= classes->n_ids)
		return 0;
	if (!array_resize(classes->of, n_ids))
		return -ENOMEM;
	for (uint32_t id = classes->n_ids; id < n_ids; id++)
		classes->of[id] = CLASS_OUTSIDE;
	classes->size[CLASS_OUTSIDE] += n_ids - classes->n_ids;
	classes->n_ids = n_ids;
	return 0;
}

int classes_new(struct classes *classes, const struct labels *labels, uint32_t n_ids)
{
	uint32_t n = 1 + (labels ? labels->n : 0);
	*classes = (struct classes){.n = n};
	classes->size = calloc(n, sizeof(*classes->size));
	if (!classes->size)
		return -ENOMEM;
	int error = classes_cover(classes, n_ids);
	if (error) {
		classes_free(classes);
		return error;
	}
	for (uint32_t id = 0; labels && id < n_ids; id++) {
		classes->of[id] = 1 + labels->label[id];
		classes->size[CLASS_OUTSIDE]--;
		classes->size[classes->of[id]]++;
	}
	return 0;
}

void classes_count(
	const struct classes *classes, const roaring_bitmap_t *ids, uint32_t *counts)
{
	uint32_t id;
	BITMAP_FOREACH (id, ids)
		counts[classes->of[id]]++;
}

/* Tells whether ids of the class move to a new class. inside: number of the class's ids that are in
 * the set given to classes_split. */
static bool is_cut(const struct classes *classes, uint32_t class, uint32_t inside)
{
	return inside && (inside < classes->size[class] || class == CLASS_OUTSIDE);
}

int classes_split(struct classes *classes, const roaring_bitmap_t *ids)
{
	/* An element for each class: first the number of the class's ids that are in `ids`, then the
	 * number of the class to which these ids move. */
	auto_free uint32_t *inside = calloc(classes->n, sizeof(*inside));
	uint32_t n = classes->n, id;
	if (!inside)
		return -ENOMEM;
	classes_count(classes, ids, inside);
	for (uint32_t class = 0; class < classes->n; class ++)
		n += is_cut(classes, class, inside[class]);
	if (n == classes->n)
		return 0;
	if (!array_resize(classes->size, n))
		return -ENOMEM;
	n = classes->n;
	for (uint32_t class = 0; class < classes->n; class ++) {
		if (is_cut(classes, class, inside[class])) {
			classes->size[n] = inside[class];
			classes->size[class] -= inside[class];
			inside[class] = n++;
		} else {
			inside[class] = class;
		}
	}
	classes->n = n;
	BITMAP_FOREACH (id, ids)
		classes->of[id] = inside[classes->of[id]];
	return 0;
}
