// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/fault.h"
#include "base/rng.h"
#include "dataset/dataset_pairs.h"
#include "edition/edition_internal.h"
#include "image/sections.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Removes second files of pairs, and later frames of videos, which are no samples of their own. */
static int pair_samples(struct edition *edition)
{
	const struct preparation *preparation = &edition->job->config.preparation;
	if (!preparation_pair(preparation) && !preparation->frames)
		return 0;
	int err = dataset_pair(edition->is.dataset, preparation);
	auto_bitmap roaring_bitmap_t *all =
		err ? NULL : roaring_bitmap_copy(edition->selection);
	sample_id id;
	if (!all)
		return err ? err : -ENOMEM;
	BITMAP_FOREACH (id, all)
		if (dataset_is_second(edition->is.dataset, preparation, id))
			roaring_bitmap_remove(edition->selection, id);
	return 0;
}

/* Warns about samples that can't be prepared. -EINVAL, reported: no sample can be prepared. */
static int check_pairs(
	const struct edition *edition, config_report *report, void *context)
{
	const struct job_config *config = &edition->job->config;
	const struct preparation *preparation = &config->preparation;
	/* n: number of samples that can't be prepared. first: the first of these samples */
	uint32_t n = 0, first = 0, id;
	char message[PAIR_MESSAGE];
	if (!preparation_pair(preparation) && !preparation->frames)
		return 0;
	BITMAP_FOREACH (id, edition->selection)
		if (dataset_pair_fails(edition->is.dataset, preparation, id, NULL) &&
			n++ == 0)
			first = id;
	if (n == 0)
		return 0;
	bool all = n == edition->set.positions;
	struct path_text path = {0};
	(void)dataset_pair_fails(edition->is.dataset, preparation, first, message);
	if (preparation->frames) {
		config_report_text(report, context,
			"%s%s:[tensor]:frames: found %u, and %u of %u samples can't be "
			"prepared, as %s: %s%s",
			all ? "" : CONFIG_WARNING, config->file, preparation->frames, n,
			edition->set.positions,
			dataset_relative(edition->is.dataset, first, &path), message,
			all ? "" : "; their files answer EIO");
		return all ? -EINVAL : 0;
	}
	config_report_text(report, context,
		"%s%s:[tensor %s]:from: found \"%s\", and %u of %u samples can't be "
		"prepared, as %s: %s%s",
		all ? "" : CONFIG_WARNING, config->file, config->sections[0].name,
		preparation->sections->from, n, edition->set.positions,
		dataset_relative(edition->is.dataset, first, &path), message,
		all ? "; allowed: the path from a sample's first file to its second one "
		      "in the dataset"
		    : "; their files answer EIO");
	return all ? -EINVAL : 0;
}

static int select_samples(struct edition *edition, config_report *report, void *context)
{
	auto_free char *message = NULL;
	int err = dataset_select(edition->is.dataset, edition->job->config.where,
		&edition->selection, &message);
	if (err) {
		config_report_text(report, context, "%s:[job]:where: %s",
			edition->job->config.file, message ? message : strerror(-err));
		return err;
	}
	err = pair_samples(edition);
	if (err)
		return err;
	edition->set.positions =
		(uint32_t)roaring_bitmap_get_cardinality(edition->selection);
	if (edition->set.positions == 0) {
		config_report_text(report, context,
			"%s:[job]:where: found \"%s\", which selects none of the %u "
			"samples of dataset %s; allowed: a predicate that selects at "
			"least one",
			edition->job->config.file,
			edition->job->config.where ? edition->job->config.where : "",
			dataset_samples(edition->is.dataset),
			edition->job->config.dataset);
		return -EINVAL;
	}
	err = check_pairs(edition, report, context);
	if (err)
		return err;
	edition->parts[0].selection = edition->selection;
	edition->parts[0].in_epoch = edition->set.positions;
	return 0;
}

static int check_length(
	const struct edition *edition, config_report *report, void *context)
{
	uint32_t n = edition->set.positions;
	if (n <= CONFIG_MOST_SAMPLES && fault_hit("sched.samples") == 0)
		return 0;
	config_report_text(report, context,
		"%s:[job]:where: found %u samples, allowed: at most %u in a job, since "
		"the number of a file has 28 bits for it; divide them among jobs, as by "
		"where = hash(path) %% 2 = 0",
		edition->job->config.file, n, CONFIG_MOST_SAMPLES);
	return -EINVAL;
}

/* --- classes: positions by label ---------------------------------------------------- */

static int find_labels(struct edition *edition)
{
	uint32_t n = dataset_classes(edition->is.dataset);
	sample_id id;
	edition->label_begin = calloc(n + 1, sizeof(*edition->label_begin));
	if (!edition->label_begin)
		return -ENOMEM;
	/* counts samples of label l at index l + 1, and then adds up these counts */
	BITMAP_FOREACH (id, edition->selection)
		edition->label_begin[dataset_label(edition->is.dataset, id) + 1]++;
	for (uint32_t label = 0; label < n; label++)
		edition->label_begin[label + 1] += edition->label_begin[label];
	ensure(edition->label_begin[n] == edition->set.positions);
	return 0;
}

/* Makes by_position, the list of the samples sorted by label. All jobs that select all samples of a
 * dataset share one list, which the dataset owns. */
static int sort_by_label(struct edition *edition)
{
	struct dataset *dataset = edition->is.dataset;
	if (!edition->mixed && edition->set.positions == dataset_samples(dataset))
		return dataset_by_label(dataset, &edition->by_position);
	int err = dataset_sort_by_label(
		dataset, edition->selection, &edition->own_by_position);
	edition->by_position = edition->own_by_position;
	return err;
}

/* --- labels = fixed: a label for each position ---------------------------------------- */

/* Gives each position a label, in a random order. Only the fingerprint decides this order, not the
 * daemon's seed, so a restarted daemon makes the same order. */
static int mix_labels(struct edition *edition)
{
	uint32_t n = 0, id;
	struct rng rng;
	edition->labels = calloc(edition->set.positions, sizeof(*edition->labels));
	if (!edition->labels)
		return -ENOMEM;
	BITMAP_FOREACH (id, edition->selection)
		edition->labels[n++] = dataset_label(edition->is.dataset, id);
	rng_seed(&rng, edition->fingerprint);
	rng_shuffle(&rng, edition->labels, edition->set.positions);
	return 0;
}

static int list_selection(struct edition *edition)
{
	edition->own_by_position =
		calloc(edition->set.positions, sizeof(*edition->own_by_position));
	if (!edition->own_by_position)
		return -ENOMEM;
	roaring_bitmap_to_uint32_array(edition->selection, edition->own_by_position);
	edition->by_position = edition->own_by_position;
	return 0;
}

static int place_samples(struct edition *edition)
{
	if (job_kind(edition->job) == EPOCHS_FIXED)
		return list_selection(edition);
	if (job_kind(edition->job) != EPOCHS_DRAWN_AT_OPEN)
		return 0;
	edition->fingerprint = rng_mix(edition->fingerprint, LAYOUT_FLAT);
	return mix_labels(edition);
}

static int look_at_samples(struct edition *edition, config_report *report, void *context)
{
	int err = config_is_mixed(&edition->job->config)
			  ? mixture_select(edition, report, context)
			  : select_samples(edition, report, context);
	if (!err)
		err = check_length(edition, report, context);
	if (!err)
		err = edition_measure(edition);
	if (!err && edition->job->config.layout == LAYOUT_CLASSES)
		err = find_labels(edition);
	if (!err)
		edition->content =
			dataset_fingerprint(edition->is.dataset, edition->selection);
	return err;
}

int edition_select(struct edition *edition, config_report *report, void *context)
{
	bool mixed = config_is_mixed(&edition->job->config);
	int err = measured_load(edition);
	if (err == -ENOENT)
		err = look_at_samples(edition, report, context);
	if (!err && !edition->job->now)
		err = mapping_choose(edition->job, edition->all_bytes);
	if (err)
		return err;
	/* A saved order can be used only if its edition still has the same fingerprint. So the
	 * fingerprint includes everything that decides which sample a position has. */
	edition->fingerprint = rng_mix(edition->content, job_kind(edition->job));
	if (mixed)
		edition->fingerprint =
			rng_mix(edition->fingerprint, mixture_fingerprint(edition));
	if (edition->job->config.layout != LAYOUT_CLASSES)
		return place_samples(edition);
	return job_kind(edition->job) == EPOCHS_FIXED ? sort_by_label(edition) : 0;
}

bool edition_fixes_labels(const struct edition *edition)
{
	return edition->label_begin || edition->labels;
}

/* Returns the last label that begins at or before the position. A label without samples begins
 * where the next label begins, so this search never finds it. */
uint32_t edition_label_of(const struct edition *edition, uint32_t position)
{
	uint32_t low = 0, high = dataset_classes(edition->is.dataset);
	if (edition->labels)
		return edition->labels[position];
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (edition->label_begin[middle] <= position)
			low = middle;
		else
			high = middle;
	}
	return low;
}

bool edition_label(const struct edition *edition, uint32_t position, uint32_t *ret)
{
	bool there = position < edition->set.positions;
	if (there && edition->by_position)
		*ret = dataset_label(edition->is.dataset, edition->by_position[position]);
	else if (there && edition_fixes_labels(edition))
		*ret = edition_label_of(edition, position);
	else
		return false;
	return true;
}
