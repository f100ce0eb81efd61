// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Handles members with the same path, as after `tar rf` of a corrected image: the last member
 * replaces the data of the first. */

static int compare_indexes(const void *a, const void *b)
{
	return *(const size_t *)a < *(const size_t *)b ? -1 : 1;
}

static int compare_samples(const void *a, const void *b, void *context)
{
	const struct listed *samples = context;
	const size_t *x = a, *y = b;
	int order = strcmp(samples[*x].member, samples[*y].member);
	return order ? order : compare_indexes(a, b);
}

static int compare_labels(const void *a, const void *b, void *context)
{
	const struct group_label *labels = context;
	const size_t *x = a, *y = b;
	int order = strcmp(labels[*x].member, labels[*y].member);
	return order ? order : compare_indexes(a, b);
}

static size_t *sorted(
	size_t n, int (*compare)(const void *, const void *, void *), void *of)
{
	size_t *order = calloc(n + 1, sizeof(*order));
	for (size_t i = 0; order && i < n; i++)
		order[i] = i;
	if (order && n)
		qsort_r(order, n, sizeof(*order), compare, of);
	return order;
}

static int replace_labels(struct container_scan *container)
{
	const struct group_label *labels = container->labels;
	struct listed *samples = container->listing->samples;
	size_t n = container->n_labels;
	auto_free size_t *order = sorted(n, compare_labels, container->labels);
	if (!order)
		return -ENOMEM;
	for (size_t i = 0, end; i < n; i = end) {
		const struct group_label *first = &labels[order[i]];
		for (end = i + 1;
			end < n && strcmp(labels[order[end]].member, first->member) == 0;)
			end++;
		for (size_t k = first->first; end > i + 1 && k < first->end; k++)
			samples[k].label = labels[order[end - 1]].label;
	}
	return 0;
}

/* Gives the first of several samples with the same path the data of the last sample. `member` of
 * the samples after the first becomes NULL. */
static void replace_samples(struct container_scan *container, struct listed *samples,
	const size_t *order, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		struct listed *first = &samples[order[i]];
		for (end = i + 1; end < n &&
				  strcmp(samples[order[end]].member, first->member) == 0;)
			end++;
		if (end == i + 1)
			continue;
		container_issue(container, ISSUE_REPLACED, first->member);
		first->part = samples[order[end - 1]].part;
		first->facts = samples[order[end - 1]].facts;
		for (size_t k = i + 1; k < end; k++)
			samples[order[k]].member = NULL;
	}
}

int container_replace(struct container_scan *container)
{
	struct listing *listing = container->listing;
	size_t n = listing->n - container->first, kept = 0;
	int err = replace_labels(container);
	if (err || n == 0)
		return err;
	struct listed *samples = listing->samples + container->first;
	auto_free size_t *order = sorted(n, compare_samples, samples);
	if (!order)
		return -ENOMEM;
	replace_samples(container, samples, order, n);
	for (size_t i = 0; i < n; i++)
		if (samples[i].member)
			samples[kept++] = samples[i];
	listing->n = container->first + kept;
	return 0;
}
