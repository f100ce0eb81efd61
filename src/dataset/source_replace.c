// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Handles members with the same path, as after `tar rf` of a corrected image: the last member
 * replaces the data of the first. */

struct named {
	const char *member; /* path of a member */
	size_t i;	    /* index of the label or sample with this path */
};

static int compare(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = strcmp(x->member, y->member);
	return order ? order : (x->i > y->i) - (x->i < y->i);
}

/* Returns the paths of n items, sorted, with the items' indices. The first field of an item is its
 * path. The caller frees the result; NULL: no memory. */
static struct named *sorted(const void *items, size_t n, size_t item_bytes)
{
	struct named *named = calloc(n + 1, sizeof(*named));
	if (!named)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const char *const *member =
			(const void *)((const char *)items + i * item_bytes);
		named[i] = (struct named){*member, i};
	}
	qsort(named, n, sizeof(*named), compare);
	return named;
}

/* Returns the index after the last element with the same path as element `first`. */
static size_t end_of(const struct named *named, size_t first, size_t n)
{
	size_t end = first + 1;
	while (end < n && strcmp(named[end].member, named[first].member) == 0)
		end++;
	return end;
}

static int replace_labels(struct container_scan *container)
{
	const struct group_label *labels = container->labels;
	struct listed *samples = container->listing->samples;
	size_t n = container->n_labels;
	auto_free struct named *named = sorted(labels, n, sizeof(*labels));
	if (!named)
		return -ENOMEM;
	for (size_t i = 0, end; i < n; i = end) {
		const struct group_label *first = &labels[named[i].i];
		end = end_of(named, i, n);
		for (size_t k = first->first; end > i + 1 && k < first->end; k++)
			samples[k].label = labels[named[end - 1].i].label;
	}
	return 0;
}

/* Gives the first of several samples with the same path the data of the last sample. `member` of
 * the samples after the first becomes NULL. */
static int replace_samples(
	struct container_scan *container, struct listed *samples, size_t n)
{
	auto_free struct named *named = sorted(samples, n, sizeof(*samples));
	if (!named)
		return -ENOMEM;
	for (size_t i = 0, end; i < n; i = end) {
		struct listed *first = &samples[named[i].i];
		end = end_of(named, i, n);
		if (end == i + 1)
			continue;
		container_issue(container, ISSUE_REPLACED, first->member);
		first->part = samples[named[end - 1].i].part;
		first->facts = samples[named[end - 1].i].facts;
		for (size_t k = i + 1; k < end; k++)
			samples[named[k].i].member = NULL;
	}
	return 0;
}

int container_replace(struct container_scan *container)
{
	struct listing *listing = container->listing;
	size_t n = listing->n - container->first, kept = 0;
	int err = replace_labels(container);
	if (err || n == 0)
		return err;
	struct listed *samples = listing->samples + container->first;
	err = replace_samples(container, samples, n);
	for (size_t i = 0; !err && i < n; i++)
		if (samples[i].member)
			samples[kept++] = samples[i];
	if (!err)
		listing->n = container->first + kept;
	return err;
}
