// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"
#include "base/ensure.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

void sched_report(config_report *report, void *context, const char *format, ...)
{
	char *message = NULL;
	va_list args;
	va_start(args, format);
	int n = vasprintf(&message, format, args);
	va_end(args);
	report(context, n < 0 ? "out of memory" : message);
	if (n >= 0)
		free(message);
}

static int select_samples(struct sched_job *job, config_report *report, void *context)
{
	auto_free char *message = NULL;
	int err = dataset_select(
		job->source->dataset, job->config.where, &job->selection, &message);
	if (err) {
		sched_report(report, context, "%s:[job]:where: %s", job->config.file,
			message ? message : strerror(-err));
		return err;
	}
	job->samples = (uint32_t)roaring_bitmap_get_cardinality(job->selection);
	if (job->samples == 0) {
		sched_report(report, context,
			"%s:[job]:where: found \"%s\", which selects none of the %u "
			"samples of dataset %s; allowed: what selects at least one",
			job->config.file, job->config.where ? job->config.where : "",
			dataset_samples(job->source->dataset), job->config.dataset);
		return -EINVAL;
	}
	return 0;
}

static bool find_largest(uint32_t id, void *context)
{
	struct sched_job *job = context;
	const struct dataset *dataset = job->source->dataset;
	const struct preparation *preparation = &job->config.preparation;
	struct tensor_shape image = preparation_image(preparation,
		dataset_image_shape(dataset, id), dataset_orientation(dataset, id));
	uint64_t bytes =
		preparation_bytes(preparation, image, dataset_file_bytes(dataset, id));
	if (bytes > job->largest_bytes)
		job->largest_bytes = bytes;
	return true;
}

/* --- classes: positions by label ---------------------------------------------------- */

/* Counted one place further on, so that sums make beginnings of it. */
static bool count_label(uint32_t id, void *context)
{
	struct sched_job *job = context;
	job->label_begin[dataset_label(job->source->dataset, id) + 1]++;
	return true;
}

static int find_labels(struct sched_job *job)
{
	uint32_t n = dataset_classes(job->source->dataset);
	job->label_begin = calloc(n + 1, sizeof(*job->label_begin));
	if (!job->label_begin)
		return -ENOMEM;
	roaring_iterate(job->selection, count_label, job);
	for (uint32_t label = 0; label < n; label++)
		job->label_begin[label + 1] += job->label_begin[label];
	ensure(job->label_begin[n] == job->samples);
	return 0;
}

struct sorting {
	struct sched_job *job;
	uint32_t *next; /* by label: where its next sample goes */
};

static bool sort_one(uint32_t id, void *context)
{
	struct sorting *sorting = context;
	uint32_t label = dataset_label(sorting->job->source->dataset, id);
	sorting->job->by_position[sorting->next[label]++] = id;
	return true;
}

static int sort_by_label(struct sched_job *job)
{
	uint32_t n = dataset_classes(job->source->dataset);
	auto_free uint32_t *next = calloc(n, sizeof(*next));
	job->by_position = calloc(job->samples, sizeof(*job->by_position));
	if (!next || !job->by_position)
		return -ENOMEM;
	memcpy(next, job->label_begin, n * sizeof(*next));
	struct sorting sorting = {job, next};
	roaring_iterate(job->selection, sort_one, &sorting);
	return 0;
}

static int list_selection(struct sched_job *job)
{
	job->by_position = calloc(job->samples, sizeof(*job->by_position));
	if (!job->by_position)
		return -ENOMEM;
	roaring_bitmap_to_uint32_array(job->selection, job->by_position);
	return 0;
}

int job_select(struct sched_job *job, config_report *report, void *context)
{
	int err = select_samples(job, report, context);
	if (err)
		return err;
	roaring_iterate(job->selection, find_largest, job);
	/* What decides about the sample of a position belongs to an order, too. */
	job->fingerprint = rng_mix(
		dataset_fingerprint(job->source->dataset, job->selection), job_kind(job));
	if (job->config.layout != LAYOUT_CLASSES)
		return job_kind(job) == EPOCHS_FIXED ? list_selection(job) : 0;
	err = find_labels(job);
	if (!err && job->config.order == ORDER_SEQUENTIAL)
		err = sort_by_label(job);
	return err;
}

uint32_t sched_job_label_begin(const struct sched_job *job, uint32_t label)
{
	ensure(job->label_begin && label <= dataset_classes(job->source->dataset));
	return job->label_begin[label];
}

/* The last label that begins at the position or before: those without samples begin where
 * the next one does. */
uint32_t job_label_of(const struct sched_job *job, uint32_t position)
{
	uint32_t low = 0, high = dataset_classes(job->source->dataset);
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (job->label_begin[middle] <= position)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* --- what decides about the sample of a position -------------------------------------- */

enum epochs_kind job_kind(const struct sched_job *job)
{
	if (job->config.layout == LAYOUT_MIRROR)
		return EPOCHS_MIRRORED;
	if (job->config.order == ORDER_SEQUENTIAL)
		return EPOCHS_FIXED;
	return job->config.layout == LAYOUT_CLASSES ? EPOCHS_DRAWN_AT_OPEN : EPOCHS_DRAWN;
}
