// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/rng.h"
#include "edition/edition_internal.h"
#include "epoch/passes.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Makes editions of mixtures, which are jobs that read several datasets. src/epoch and src/files
 * see a mixture as one dataset (dataset_mix), and each epoch has only a part of its samples.
 * Samplers and the cache see the samples of the original datasets, so that a mixture shares samples
 * with all other jobs of these datasets. The number of an epoch determines which samples of each
 * dataset the epoch has (epoch/passes.h). The samples of an epoch are the same after a restart, and
 * in all jobs with this mixture. */

static int select_part(struct part *part, config_report *report, void *context)
{
	const struct job_config *config = &part->edition->job->config;
	struct dataset *dataset = part->source->dataset;
	auto_free char *message = NULL;
	int err = dataset_select(dataset, config->where, &part->own, &message);
	part->selection = part->own;
	if (err) {
		config_report_text(report, context, "%s:[job]:where: of dataset %s: %s",
			config->file, dataset_name(dataset),
			message ? message : strerror(-err));
		return err;
	}
	if (!roaring_bitmap_is_empty(part->own))
		return 0;
	config_report_text(report, context,
		"%s:[job]:where: found \"%s\", which selects none of the %u samples of "
		"dataset %s; allowed: a predicate that selects at least one of each "
		"dataset",
		config->file, config->where ? config->where : "",
		dataset_samples(dataset), dataset_name(dataset));
	return -EINVAL;
}

static int mix(struct edition *edition, config_report *report, void *context)
{
	const struct job_config *config = &edition->job->config;
	struct dataset_mixed from[CONFIG_MOST_MIXED];
	auto_free char *message = NULL;
	for (size_t i = 0; i < edition->n_parts; i++)
		from[i] = (struct dataset_mixed){
			edition->parts[i].source->dataset, edition->parts[i].selection};
	int err = dataset_mix(config->dataset, from, edition->n_parts,
		config->label_table, &edition->mixed, &message);
	if (err && config->label_table)
		config_report_text(report, context, "%s:[job]:label_table: %s: %s",
			config->file, config->label_table,
			message ? message : strerror(-err));
	else if (err)
		config_report_text(report, context, "%s:[job]:dataset: %s: %s",
			config->file, config->dataset, strerror(-err));
	if (!err)
		edition->is.dataset = edition->mixed;
	return err;
}

#define AT_ONCE 256

static void add_part(const struct part *part, roaring_bitmap_t *ret)
{
	roaring_uint32_iterator_t iterator;
	uint32_t ids[AT_ONCE], n;
	roaring_init_iterator(part->selection, &iterator);
	while ((n = roaring_read_uint32_iterator(&iterator, ids, AT_ONCE)) > 0) {
		for (uint32_t i = 0; i < n; i++)
			ids[i] += part->first;
		roaring_bitmap_add_many(ret, n, ids);
	}
}

static int join_selections(struct edition *edition)
{
	edition->selection = roaring_bitmap_create();
	if (!edition->selection)
		return -ENOMEM;
	for (size_t i = 0; i < edition->n_parts; i++) {
		struct part *part = &edition->parts[i];
		part->first = dataset_first(edition->mixed, i);
		part->seed = dataset_fingerprint(part->source->dataset, part->selection);
		add_part(part, edition->selection);
	}
	return 0;
}

static uint32_t samples_of(const struct part *part)
{
	return (uint32_t)roaring_bitmap_get_cardinality(part->selection);
}

/* Returns the number of samples in an epoch per unit of weight. It is the largest number for which
 * every dataset has enough samples. */
static double samples_per_weight(
	const struct edition *edition, const struct config_mixed *mixed)
{
	double least = INFINITY;
	for (size_t i = 0; i < edition->n_parts; i++)
		least = fmin(least, samples_of(&edition->parts[i]) / mixed[i].weight);
	return least;
}

static void divide(struct edition *edition)
{
	struct config_mixed mixed[CONFIG_MOST_MIXED];
	const char *text = edition->job->config.dataset;
	for (size_t i = 0; i < edition->n_parts; i++)
		ensure(config_next_mixed(&text, &mixed[i]));
	double per_weight = samples_per_weight(edition, mixed);
	for (size_t i = 0; i < edition->n_parts; i++) {
		struct part *part = &edition->parts[i];
		double n = fmin(round(per_weight * mixed[i].weight), samples_of(part));
		part->in_epoch = n < 1 ? 1 : (uint32_t)n;
		edition->set.positions += part->in_epoch;
	}
}

int mixture_select(struct edition *edition, config_report *report, void *context)
{
	int err = 0;
	for (size_t i = 0; i < edition->n_parts && !err; i++)
		err = select_part(&edition->parts[i], report, context);
	if (!err)
		err = mix(edition, report, context);
	if (!err)
		err = join_selections(edition);
	if (!err)
		divide(edition);
	return err;
}

uint64_t mixture_fingerprint(const struct edition *edition)
{
	uint64_t hash = dataset_labels_fingerprint(edition->mixed, edition->selection);
	for (size_t i = 0; i < edition->n_parts; i++)
		hash = rng_mix(hash, edition->parts[i].in_epoch);
	return hash;
}

int part_samples(const struct part *part, uint32_t epoch, roaring_bitmap_t **ret)
{
	if (part->own)
		return passes_of_epoch(part->own, part->in_epoch, part->seed, epoch, ret);
	*ret = roaring_bitmap_copy(part->selection);
	return *ret ? 0 : -ENOMEM;
}
