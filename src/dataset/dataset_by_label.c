// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/machine.h"
#include "dataset/dataset_internal.h"
#include "dataset/dataset_tools.h"

#include <errno.h>
#include <stdlib.h>

/* Sorts samples by label, with a counting sort. Each thread has a range of ids. */

#define IDS_AT_ONCE 1024
/* Several threads sort only if there are at least 2 * LEAST_IN_RANGE samples. With fewer samples,
 * one thread is faster. */
#define LEAST_IN_RANGE 4096

struct sorting {
	const struct dataset *dataset;
	const roaring_bitmap_t *selection;
	unsigned n_ranges;
	uint32_t n_labels;
	atomic_uint next;
	/* A number for each range and label. First pass: how many of the range's samples have the
	 * label. Second pass: the index in `ret` for the next such sample. */
	uint32_t *counts;
	sample_id *ret; /* NULL in the first pass, which only counts */
};

static void sort_ids(
	struct sorting *sorting, const uint32_t *ids, uint32_t n, uint32_t *counts)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t *count = &counts[dataset_label(sorting->dataset, ids[i])];
		if (sorting->ret)
			sorting->ret[*count] = ids[i];
		++*count;
	}
}

static void sort_range(struct sorting *sorting, unsigned range)
{
	uint32_t ids[IDS_AT_ONCE], n_ids = sorting->dataset->n_ids;
	uint64_t end = (uint64_t)n_ids * (range + 1) / sorting->n_ranges;
	uint32_t begin = (uint32_t)((uint64_t)n_ids * range / sorting->n_ranges);
	uint32_t *counts = &sorting->counts[(size_t)range * sorting->n_labels];
	roaring_uint32_iterator_t at;
	roaring_init_iterator(sorting->selection, &at);
	bool more = roaring_move_uint32_iterator_equalorlarger(&at, begin);
	while (more) {
		uint32_t n = roaring_read_uint32_iterator(&at, ids, IDS_AT_ONCE);
		more = n == IDS_AT_ONCE;
		while (n > 0 && ids[n - 1] >= end) {
			n--;
			more = false;
		}
		sort_ids(sorting, ids, n, counts);
	}
}

static void sort_some(void *context, unsigned worker)
{
	struct sorting *sorting = context;
	(void)worker;
	for (unsigned range;
		(range = atomic_fetch_add(&sorting->next, 1)) < sorting->n_ranges;)
		sort_range(sorting, range);
}

static void sum_counts(struct sorting *sorting)
{
	uint32_t sum = 0;
	for (uint32_t label = 0; label < sorting->n_labels; label++)
		for (unsigned range = 0; range < sorting->n_ranges; range++) {
			uint32_t *count =
				&sorting->counts[(size_t)range * sorting->n_labels +
						 label];
			uint32_t n = *count;
			*count = sum;
			sum += n;
		}
}

int dataset_sort_by_label(
	const struct dataset *dataset, const roaring_bitmap_t *selection, sample_id **ret)
{
	uint64_t n = roaring_bitmap_get_cardinality(selection);
	unsigned threads = n < 2 * LEAST_IN_RANGE ? 1 : machine_cpus("");
	struct sorting sorting = {.dataset = dataset,
		.selection = selection,
		.n_ranges = threads,
		.n_labels = dataset->n_classes};
	auto_free uint32_t *counts =
		calloc((size_t)threads * sorting.n_labels + 1, sizeof(*counts));
	auto_free sample_id *sorted = calloc(n + 1, sizeof(*sorted));
	if (!counts || !sorted)
		return -ENOMEM;
	sorting.counts = counts;
	parallel_run(threads, sort_some, &sorting);
	sum_counts(&sorting);
	sorting.ret = sorted;
	atomic_store(&sorting.next, 0);
	parallel_run(threads, sort_some, &sorting);
	*ret = sorted;
	sorted = NULL;
	return 0;
}

int dataset_by_label(struct dataset *dataset, const sample_id **ret)
{
	sample_id *sorted = atomic_load(&dataset->by_label), *none = NULL;
	if (!sorted) {
		int err = dataset_sort_by_label(dataset, dataset->present, &sorted);
		if (err)
			return err;
		if (!atomic_compare_exchange_strong(&dataset->by_label, &none, sorted)) {
			free(sorted);
			sorted = none;
		}
	}
	*ret = sorted;
	return 0;
}
