// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/lock.h"
#include "files/text.h"
#include "sched/datasets.h"
#include "sched/gauges.h"

#define MOST_LOCKS 16

struct list {
	struct stats_times *times;
	size_t n;
};

static void add_dataset(struct list *list, const struct files_context *context,
	uint32_t number, enum stats_histogram histogram)
{
	struct stats_times *one = &list->times[list->n];
	struct sched_dataset_times times;
	struct dataset *dataset = sched_dataset_hold(context->sched, number);
	if (!dataset)
		return;
	if (sched_dataset_times(context->sched, number, &times)) {
		bool read = histogram == STATS_SAMPLE_READ;
		snprintf(one->name, sizeof(one->name), "%s", dataset_name(dataset));
		snprintf(one->labels, sizeof(one->labels), "dataset=\"%s\",source=\"%s\"",
			one->name, dataset_kind(dataset));
		one->copy = read ? times.read : times.decode;
		list->n++;
	}
	dataset_close(&dataset);
}

static void add_locks(struct list *list)
{
	const char *name;
	for (unsigned i = 0; i < MOST_LOCKS; i++) {
		struct stats_times *one = &list->times[list->n];
		if (!lock_holds(i, &name, &one->copy))
			return;
		snprintf(one->name, sizeof(one->name), "%s", name);
		snprintf(one->labels, sizeof(one->labels), "lock=\"%s\"", name);
		list->n++;
	}
}

/* Returns the histograms of one kind. The caller frees list.times. */
static struct list collect(
	const struct files_context *context, enum stats_histogram histogram)
{
	uint32_t datasets = sched_datasets(context->sched, NULL);
	struct list list = {.times = calloc(datasets + MOST_LOCKS, sizeof(*list.times))};
	if (!list.times)
		return list;
	switch (histogram) {
	case STATS_SAMPLE_READ:
	case STATS_SAMPLE_DECODE:
		for (uint32_t i = 0; i < datasets; i++)
			add_dataset(&list, context, i, histogram);
		break;
	case STATS_LOCK_HOLD:
		add_locks(&list);
		break;
	default:
		stats_copy(histogram, &list.times[0].copy);
		list.n = 1;
	}
	return list;
}

void text_times(FILE *out, const struct files_context *context, bool json)
{
	for (int i = 0; i < STATS_HISTOGRAM_COUNT; i++) {
		struct list list = collect(context, (enum stats_histogram)i);
		fputs(json && i ? ",\n" : "", out);
		(json ? stats_print_times_json : stats_print_times_text)(
			out, (enum stats_histogram)i, list.times, list.n);
		free(list.times);
	}
}

void text_times_metrics(
	FILE *out, const struct files_context *context, enum stats_form form)
{
	for (int i = 0; i < STATS_HISTOGRAM_COUNT; i++) {
		struct list list = collect(context, (enum stats_histogram)i);
		stats_print_times_metrics(
			out, form, (enum stats_histogram)i, list.times, list.n);
		free(list.times);
	}
}
