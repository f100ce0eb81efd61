// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/sched_internal.h"
#include "base/ensure.h"
#include "base/rng.h"
#include "base/size_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static uint64_t look_ahead_bytes(const struct sched_job *job)
{
	uint64_t n = job->config.lookahead;
	if (job_kind(job) == EPOCHS_MIRRORED)
		return 0;
	return (n < job->samples ? n : job->samples) * job->largest_bytes;
}

void sched_report_cache(struct sched *sched, config_report *report, void *context)
{
	const uint64_t cache = sched->config->cache_bytes;
	const struct sched_job *job;
	uint64_t bytes = 0;
	lock_take(&sched->lock);
	TAILQ_FOREACH (job, &sched->jobs, link)
		bytes += look_ahead_bytes(job);
	lock_release(&sched->lock);
	if (bytes > cache)
		sched_report(report, context,
			CONFIG_WARNING
			"cache = %s is less than the %s that the jobs look "
			"ahead: they look less far ahead, and share less; "
			"a larger cache in [joaderfs] helps, or a smaller "
			"lookahead in [view] of the jobs",
			size_text(cache).text, size_text(bytes).text);
}

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

/* --- how large the samples are ------------------------------------------------------ */

#define MOST_MEASURED 4096

struct measuring {
	struct sched_job *job;
	uint32_t seen, step;
	uint32_t n;
	uint64_t bytes[MOST_MEASURED]; /* of every step-th sample */
};

static bool measure_one(uint32_t id, void *context)
{
	struct measuring *measuring = context;
	struct sched_job *job = measuring->job;
	uint64_t bytes = memory_tensor_bytes(
		job->sched, job->source->dataset, &job->config.preparation, id);
	job->all_bytes += bytes;
	if (bytes > job->largest_bytes)
		job->largest_bytes = bytes;
	if (bytes == 0)
		roaring_bitmap_remove(job->readable, id);
	if (measuring->seen++ % measuring->step == 0)
		measuring->bytes[measuring->n++] = bytes;
	return true;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* A few huge images say nothing about how many samples fit into the cache. */
static int measure(struct sched_job *job)
{
	auto_free struct measuring *measuring = calloc(1, sizeof(*measuring));
	job->readable = roaring_bitmap_copy(job->selection);
	if (!measuring || !job->readable)
		return -ENOMEM;
	measuring->job = job;
	measuring->step = (job->samples + MOST_MEASURED - 1) / MOST_MEASURED;
	roaring_iterate(job->selection, measure_one, measuring);
	qsort(measuring->bytes, measuring->n, sizeof(measuring->bytes[0]), compare);
	job->sample_bytes = job->all_bytes / job->samples;
	job->typical_bytes = measuring->bytes[measuring->n * 3 / 4];
	return 0;
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

/* --- labels = fixed: each position has one -------------------------------------------- */

struct listing {
	struct sched_job *job;
	uint32_t n;
};

static bool list_label(uint32_t id, void *context)
{
	struct listing *listing = context;
	listing->job->labels[listing->n++] =
		dataset_label(listing->job->source->dataset, id);
	return true;
}

/* Mixed, since a script may read in order; and always alike, whatever the seed is. */
static int mix_labels(struct sched_job *job)
{
	struct listing listing = {.job = job};
	struct rng rng;
	job->labels = calloc(job->samples, sizeof(*job->labels));
	if (!job->labels)
		return -ENOMEM;
	roaring_iterate(job->selection, list_label, &listing);
	rng_seed(&rng, job->fingerprint);
	for (uint32_t i = job->samples - 1; i > 0; i--) {
		uint32_t j = (uint32_t)rng_below(&rng, i + 1), label = job->labels[i];
		job->labels[i] = job->labels[j];
		job->labels[j] = label;
	}
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

/* In all layouts but classes, where directories are labels. */
static int place_samples(struct sched_job *job)
{
	if (job_kind(job) == EPOCHS_FIXED)
		return list_selection(job);
	if (job_kind(job) != EPOCHS_DRAWN_AT_OPEN)
		return 0;
	job->fingerprint = rng_mix(job->fingerprint, LAYOUT_FLAT);
	return mix_labels(job);
}

int job_select(struct sched_job *job, config_report *report, void *context)
{
	int err = select_samples(job, report, context);
	if (err)
		return err;
	err = measure(job);
	if (err)
		return err;
	/* What decides about the sample of a position belongs to an order, too. */
	job->fingerprint = rng_mix(
		dataset_fingerprint(job->source->dataset, job->selection), job_kind(job));
	if (job->config.layout != LAYOUT_CLASSES)
		return place_samples(job);
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

bool job_fixes_labels(const struct sched_job *job)
{
	return job->label_begin || job->labels;
}

/* The last label that begins at the position or before: those without samples begin where
 * the next one does. */
uint32_t job_label_of(const struct sched_job *job, uint32_t position)
{
	uint32_t low = 0, high = dataset_classes(job->source->dataset);
	if (job->labels)
		return job->labels[position];
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (job->label_begin[middle] <= position)
			low = middle;
		else
			high = middle;
	}
	return low;
}

bool sched_label(const struct sched_job *job, uint32_t position, uint32_t *ret)
{
	bool fixed = position < job->samples && job->by_position;
	if (fixed)
		*ret = dataset_label(job->source->dataset, job->by_position[position]);
	else if (position < job->samples && job_fixes_labels(job))
		*ret = job_label_of(job, position);
	else
		return false;
	return true;
}

/* --- what decides about the sample of a position -------------------------------------- */

enum epochs_kind job_kind(const struct sched_job *job)
{
	if (job->config.layout == LAYOUT_MIRROR)
		return EPOCHS_MIRRORED;
	if (job->config.order == ORDER_SEQUENTIAL)
		return EPOCHS_FIXED;
	return job->config.layout == LAYOUT_CLASSES || job->config.fixed_labels
		       ? EPOCHS_DRAWN_AT_OPEN
		       : EPOCHS_DRAWN;
}
