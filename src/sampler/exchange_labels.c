// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sampler/exchange_internal.h"

#include <errno.h>
#include <string.h>

void labels_free(struct labels **labels)
{
	struct labels *l = *labels;
	if (!l)
		return;
	free(l->label);
	free(l->slot);
	free(l->id);
	free(l->first);
	free(l);
	*labels = NULL;
}

/* Counting sort: slots ascend by label, then by id. */
static void sort(struct labels *labels)
{
	uint32_t *first = labels->first;
	for (uint32_t id = 0; id < labels->n_ids; id++)
		first[labels->label[id] + 1]++;
	for (uint32_t label = 0; label < labels->n; label++)
		first[label + 1] += first[label];
	for (uint32_t id = 0; id < labels->n_ids; id++) {
		uint32_t slot = first[labels->label[id]]++;
		labels->slot[id] = slot;
		labels->id[slot] = id;
	}
	/* Each has moved to the next one's place. */
	memmove(&first[1], &first[0], labels->n * sizeof(*first));
	first[0] = 0;
}

int labels_slots(const struct labels *labels, const struct idset *ids, struct idset **ret)
{
	return idset_renamed(ids, labels->slot, labels->n_ids, ret);
}

int labels_new(const uint32_t *of, uint32_t n_ids, struct labels **ret)
{
	struct labels *labels = calloc(1, sizeof(*labels));
	if (!labels)
		return -ENOMEM;
	labels->n_ids = n_ids;
	for (uint32_t id = 0; id < n_ids; id++) {
		ensure(of[id] < NONE - 1);
		labels->n = of[id] >= labels->n ? of[id] + 1 : labels->n;
	}
	size_t room = (size_t)n_ids + 1; /* none of them is empty */
	labels->label = calloc(room, sizeof(*labels->label));
	labels->slot = calloc(room, sizeof(*labels->slot));
	labels->id = calloc(room, sizeof(*labels->id));
	labels->first = calloc((size_t)labels->n + 1, sizeof(*labels->first));
	if (!labels->label || !labels->slot || !labels->id || !labels->first) {
		labels_free(&labels);
		return -ENOMEM;
	}
	if (n_ids)
		memcpy(labels->label, of, n_ids * sizeof(*of));
	sort(labels);
	*ret = labels;
	return 0;
}
