// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/bitmap.h"
#include "base/ensure.h"
#include "base/log.h"
#include "edition/edition.h"
#include "sched/datasets.h"
#include "sched/supplying.h"
#include "supply/quarantine.h"
#include "supply/supply.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * Adds and removes sources:
 *
 *     sched_dataset_add -> in use <-> taken (no job can begin to use the dataset)
 *                                       |  sched_dataset_remove, _replace, _move (rescan.c)
 *                                       v
 *                                    removed -> freed by the housekeeper
 *
 * The housekeeper frees a removed source when no job uses it and its spaces are freed. An earlier
 * edition of a dataset (source_put_beside) has a source that is removed from the beginning.
 */

static const struct dataset_config *config_of(
	const struct daemon_config *config, const struct dataset *dataset)
{
	for (size_t i = 0; i < config->n_datasets; i++)
		if (strcmp(config->datasets[i].name, dataset_name(dataset)) == 0)
			return &config->datasets[i];
	return NULL;
}

enum sampler_kind source_sampler(const struct sched_source *source)
{
	return source->config.name ? source->config.sampler
				   : source->sched->config->sampler;
}

/* Initialises a source, which takes a reference to the dataset. config may be NULL. */
static int source_init(struct sched_source *source, struct sched *sched,
	struct dataset *dataset, const struct dataset_config *config)
{
	uint64_t own = rng_mix(sched->seed, rng_mix_text(0, dataset_name(dataset)));
	*source = (struct sched_source){.is = {.supply = &sched->supply,
						.dataset = dataset_hold(dataset),
						.seed = own},
		.sched = sched,
		.root = config && config->follow_outside ? NULL
							 : dataset_source(dataset)};
	LIST_INIT(&source->is.spaces);
	source->is.bad = roaring_bitmap_create();
	if (!source->is.bad)
		return -ENOMEM;
	int err = config ? config_dataset_copy(config, &source->config) : 0;
	if (!err)
		err = tier_find(source, config);
	return err ? err : sampler_new(source_sampler(source), own, &source->is.shuffled);
}

static void source_destroy(struct sched_source *source)
{
	ensure(LIST_EMPTY(&source->is.spaces));
	sampler_free(&source->is.shuffled);
	sampler_free(&source->is.labelled);
	bitmap_free(&source->is.bad);
	config_dataset_free(&source->config);
	dataset_close(&source->is.dataset);
}

int sources_init(struct sched *sched, struct dataset **datasets, size_t n, uint64_t seed)
{
	sched->seed = seed;
	sched->sources = calloc(CONFIG_MOST_DATASETS, sizeof(*sched->sources));
	sched->supply.sources = calloc(CONFIG_MOST_DATASETS, sizeof(struct source *));
	sched->supply.storages =
		calloc(CONFIG_MOST_DATASETS, sizeof(*sched->supply.storages));
	sched->tiers = calloc(CONFIG_MOST_DATASETS, sizeof(struct tier *));
	if (!sched->sources || !sched->supply.sources || !sched->supply.storages ||
		!sched->tiers)
		return -ENOMEM;
	for (size_t i = 0; i < CONFIG_MOST_DATASETS; i++)
		sched->supply.sources[i] = &sched->sources[i].is;
	for (size_t i = 0; i < n; i++) {
		struct sched_source *source = &sched->sources[i];
		if (i == CONFIG_MOST_DATASETS) {
			log_error("found %zu datasets, including the ones that joaderctl "
				  "added, allowed: at most %d",
				n, CONFIG_MOST_DATASETS);
			return -ENFILE;
		}
		sched->supply.n_sources++;
		int err = source_init(source, sched, datasets[i],
			config_of(sched->config, datasets[i]));
		if (err)
			return err;
		LOCK_SCOPE(&sched->lock);
		err = storage_get(&sched->supply, storage_device(datasets[i]),
			dataset_source(datasets[i]), &source->is.storage);
		if (!err)
			err = tier_join_locked(source);
		if (err)
			return err;
		source->quarantined = quarantine_of(sched->quarantine, i);
	}
	return 0;
}

void sources_free(struct sched *sched)
{
	for (size_t i = 0; i < sched->supply.n_sources; i++)
		source_destroy(&sched->sources[i]);
	free(sched->tiers);
}

/* --- finding ---------------------------------------------------------------------------- */

struct sched_source *source_find_locked(const struct sched *sched, const char *name)
{
	lock_assert_held(&sched->lock);
	for (size_t i = 0; i < sched->supply.n_sources; i++) {
		struct sched_source *source = &sched->sources[i];
		if (source->is.dataset && !source->removed &&
			strcmp(dataset_name(source->is.dataset), name) == 0)
			return source;
	}
	return NULL;
}

struct dataset *sched_dataset_hold(struct sched *sched, uint32_t number)
{
	LOCK_SCOPE(&sched->lock);
	const struct sched_source *source =
		number < sched->supply.n_sources ? &sched->sources[number] : NULL;
	return source && source->is.dataset && !source->removed
		       ? dataset_hold(source->is.dataset)
		       : NULL;
}

int sched_dataset_find(struct sched *sched, const char *name, uint32_t *ret)
{
	LOCK_SCOPE(&sched->lock);
	const struct sched_source *source = source_find_locked(sched, name);
	if (!source)
		return -ENOENT;
	*ret = (uint32_t)(source - sched->sources);
	return 0;
}

enum sampler_kind sched_dataset_sampler(struct sched *sched, const char *name)
{
	LOCK_SCOPE(&sched->lock);
	const struct sched_source *source = source_find_locked(sched, name);
	return source ? source->config.sampler : SAMPLER_DSA;
}

uint32_t sched_datasets(struct sched *sched, uint64_t *ret_mark)
{
	LOCK_SCOPE(&sched->lock);
	if (ret_mark)
		*ret_mark = sched->sources_changed;
	return (uint32_t)sched->supply.n_sources;
}

roaring_bitmap_t *sched_quarantined(struct sched *sched, const struct dataset *dataset)
{
	LOCK_SCOPE(&sched->lock);
	for (size_t i = 0; i < sched->supply.n_sources; i++)
		if (sched->sources[i].is.dataset == dataset &&
			sched->sources[i].quarantined)
			return roaring_bitmap_copy(sched->sources[i].quarantined);
	return roaring_bitmap_create();
}

/* --- adding and removing ------------------------------------------------------------------ */

static struct sched_source *free_place_locked(struct sched *sched)
{
	lock_assert_held(&sched->lock);
	for (size_t i = 0; i < sched->supply.n_sources; i++)
		if (!sched->sources[i].is.dataset)
			return &sched->sources[i];
	return sched->supply.n_sources < CONFIG_MOST_DATASETS
		       ? &sched->sources[sched->supply.n_sources++]
		       : NULL;
}

/* Moves *made to a free entry of the array of sources. *ret: this entry; ret may be NULL. If
 * made->removed is true, the source can't be found by its name, and the caller counts as its only
 * job. */
static int place_locked(struct sched *sched, struct sched_source *made, uint64_t device,
	struct sched_source **ret)
{
	lock_assert_held(&sched->lock);
	struct sched_source *place = free_place_locked(sched);
	if (!place)
		return -ENFILE;
	int err = storage_get(&sched->supply, device, dataset_source(made->is.dataset),
		&made->is.storage);
	if (err)
		return err;
	*place = *made;
	atomic_store(&place->is.jobs, place->removed);
	err = place->removed ? 0 : tier_join_locked(place);
	if (err) {
		*place = (struct sched_source){0};
		return err;
	}
	*made = (struct sched_source){0};
	sched->sources_changed += !place->removed;
	if (ret)
		*ret = place;
	return 0;
}

typedef int put_locked(struct sched *sched, struct sched_source *made, uint64_t device,
	struct sched_source **ret);

static int make_and_put(struct sched *sched, struct dataset *dataset,
	const struct dataset_config *config, bool removed, put_locked *put,
	struct sched_source **ret)
{
	struct sched_source made;
	uint64_t device = storage_device(dataset);
	int err = source_init(&made, sched, dataset, config);
	made.removed = removed;
	if (!err) {
		LOCK_SCOPE(&sched->lock);
		err = put(sched, &made, device, ret);
	}
	source_destroy(&made);
	return err;
}

int source_put_beside(struct sched *sched, struct dataset *dataset,
	const struct dataset_config *config, struct sched_source **ret)
{
	return make_and_put(sched, dataset, config, true, place_locked, ret);
}

static int config_of_source(struct sched_source *source, struct dataset_config *ret)
{
	LOCK_SCOPE(&source->sched->lock);
	return source->config.name ? config_dataset_copy(&source->config, ret) : -EINVAL;
}

static bool is_of_edition(
	const struct sched_source *source, const struct dataset *dataset)
{
	return source->is.dataset && source->removed &&
	       strcmp(dataset_name(source->is.dataset), dataset_name(dataset)) == 0 &&
	       dataset_edition(source->is.dataset) == dataset_edition(dataset);
}

/* Returns the removed source whose dataset is the same edition as `dataset`; NULL: there is none.
 * Counts the caller as a job of this source, so that the source is not freed. */
static struct sched_source *find_beside(
	struct sched *sched, const struct dataset *dataset)
{
	LOCK_SCOPE(&sched->lock);
	for (size_t i = 0; i < sched->supply.n_sources; i++)
		if (is_of_edition(&sched->sources[i], dataset)) {
			atomic_fetch_add(&sched->sources[i].is.jobs, 1);
			return &sched->sources[i];
		}
	return NULL;
}

int source_open_kept(struct source *now, uint32_t number, struct source **ret)
{
	struct sched *sched = sched_of_source(now);
	struct sched_source *kept = NULL;
	struct dataset_config config;
	struct dataset *dataset = NULL;
	int err = config_of_source(sched_source_of(now), &config);
	if (err)
		return err;
	err = dataset_open_kept(&config, sched->config->state, number, &dataset);
	if (!err) {
		kept = find_beside(sched, dataset);
		err = kept ? 0 : source_put_beside(sched, dataset, &config, &kept);
		dataset_close(&dataset);
	}
	config_dataset_free(&config);
	if (!err)
		*ret = &kept->is;
	return err;
}

static int add_locked(struct sched *sched, struct sched_source *made, uint64_t device,
	struct sched_source **ret)
{
	lock_assert_held(&sched->lock);
	return source_find_locked(sched, dataset_name(made->is.dataset))
		       ? -EEXIST
		       : place_locked(sched, made, device, ret);
}

struct sched_source *source_taken_locked(const struct sched *sched, const char *name)
{
	lock_assert_held(&sched->lock);
	struct sched_source *source = source_find_locked(sched, name);
	ensure(source && source->taken);
	return source;
}

/* Replaces the taken source. The quarantined samples of the old source become those of the new one,
 * so each sample id must mean the same file in both. */
static int replace_locked(struct sched *sched, struct sched_source *made, uint64_t device,
	struct sched_source **ret)
{
	lock_assert_held(&sched->lock);
	struct sched_source *old =
		source_taken_locked(sched, dataset_name(made->is.dataset));
	made->quarantined = old->quarantined;
	/* A tier allows one dataset of each name, so the old source leaves it first. */
	tier_leave(old->is.tier);
	old->is.tier = NULL;
	int err = place_locked(sched, made, device, ret);
	if (err)
		(void)!tier_join_locked(old);
	if (!err)
		old->removed = true;
	return err;
}

static void note_user(char *names, size_t size, const char *name)
{
	size_t n = strlen(names);
	snprintf(names + n, size - n, "%s%s", n ? ", " : "", name);
}

int sched_dataset_take(struct sched *sched, const char *name, bool used,
	struct dataset_config *ret_config, char ret_jobs[static SCHED_JOB_NAMES])
{
	LOCK_SCOPE(&sched->lock);
	struct sched_source *source = source_find_locked(sched, name);
	const struct sched_job *job;
	ret_jobs[0] = '\0';
	if (!source)
		return -ENOENT;
	TAILQ_FOREACH (job, &sched->jobs, link)
		if (edition_part_of(job->is.now, source->is.dataset))
			note_user(ret_jobs, SCHED_JOB_NAMES, job->is.config.name);
	if (source->taken)
		ret_jobs[0] = '\0';
	if (source->taken || (ret_jobs[0] && !used))
		return -EBUSY;
	int err = source->config.name ? config_dataset_copy(&source->config, ret_config)
				      : -EINVAL;
	source->taken = err == 0;
	return err;
}

void sched_dataset_give_back(struct sched *sched, const char *name)
{
	LOCK_SCOPE(&sched->lock);
	source_taken_locked(sched, name)->taken = false;
}

void sched_dataset_remove(struct sched *sched, const char *name)
{
	LOCK_SCOPE(&sched->lock);
	struct sched_source *source = source_taken_locked(sched, name);
	source->removed = true;
	tier_leave(source->is.tier);
	source->is.tier = NULL;
	sched->sources_changed++;
}

int sched_dataset_add(
	struct sched *sched, struct dataset *dataset, const struct dataset_config *config)
{
	return make_and_put(sched, dataset, config, false, add_locked, NULL);
}

int sched_dataset_replace(
	struct sched *sched, struct dataset *dataset, const struct dataset_config *config)
{
	return make_and_put(sched, dataset, config, false, replace_locked, NULL);
}

static bool take_gone(struct sched *sched, struct sched_source *ret)
{
	LOCK_SCOPE(&sched->lock);
	for (size_t i = 0; i < sched->supply.n_sources; i++) {
		struct sched_source *source = &sched->sources[i];
		if (!source->removed || atomic_load(&source->is.jobs) > 0 ||
			!LIST_EMPTY(&source->is.spaces))
			continue;
		*ret = *source;
		*source = (struct sched_source){0};
		return true;
	}
	return false;
}

void sources_sweep(struct sched *sched)
{
	struct sched_source gone;
	while (take_gone(sched, &gone)) {
		dataset_discard(gone.is.dataset);
		source_destroy(&gone);
	}
}
