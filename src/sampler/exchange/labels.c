// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "sampler/exchange/exchange_internal.h"

#include <errno.h>
#include <string.h>

void labels_free(struct labels **labels)
{
	struct labels *l = *labels;
	if (!l)
		return;
	free(l->label);
	free(l->first);
	free(l);
	*labels = NULL;
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
	/* one more than needed, because an array must not be empty */
	size_t room = (size_t)n_ids + 1;
	labels->label = calloc(room, sizeof(*labels->label));
	labels->first = calloc((size_t)labels->n + 1, sizeof(*labels->first));
	if (!labels->label || !labels->first) {
		labels_free(&labels);
		return -ENOMEM;
	}
	if (n_ids)
		memcpy(labels->label, of, n_ids * sizeof(*of));
	for (uint32_t id = 0; id < n_ids; id++)
		labels->first[of[id] + 1]++;
	for (uint32_t label = 0; label < labels->n; label++)
		labels->first[label + 1] += labels->first[label];
	*ret = labels;
	return 0;
}
