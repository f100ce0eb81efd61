// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sched/sched_internal.h"

/* Locks: the caller of a function whose name ends in _locked holds the scheduler's lock; the caller
 * of another function holds no lock, unless its comment says otherwise. */

must_check int sources_init(
	struct sched *sched, struct dataset **datasets, size_t n, uint64_t seed);
void sources_free(struct sched *sched);
/* Returns the source of this name that is not removed; NULL: there is none. */
struct sched_source *source_find_locked(const struct sched *sched, const char *name);
/* Sets *ret to the source of edition `number` of the dataset of `now`. The edition is an earlier
 * scan whose files were kept. Opens the edition unless it is open. Counts the caller as a job of
 * *ret. */
must_check int source_open_kept(struct source *now, uint32_t number, struct source **ret);
enum sampler_kind source_sampler(const struct sched_source *source);
/* Finds the source of a dataset that the caller has taken (sched_dataset_take). */
struct sched_source *source_taken_locked(const struct sched *sched, const char *name);
/* Adds a source that is marked as removed, so that it can't be found by its name. Counts the caller
 * as its only job. */
must_check int source_put_beside(struct sched *sched, struct dataset *dataset,
	const struct dataset_config *config, struct sched_source **ret);
/* Frees the removed sources that have no job. */
void sources_sweep(struct sched *sched);

/* Opens the configured tier, unless it is open. Only one thread at a time, without the lock, may
 * call this. The tier logs errors. */
must_check int tier_find(
	struct sched_source *source, const struct dataset_config *config);
/* Adds the source's dataset to its tier, if it has one. The tier keeps the address of the source,
 * so the source must not move. */
must_check int tier_join_locked(struct sched_source *source);
/* Returns what the tier needs to know of a sample. The field `dataset` is NULL if the source has no
 * tier. */
struct tier_sample tier_sample_of(
	const struct source *source, sample_id id, const struct dataset_sample *sample);
void tiers_close(struct sched *sched);

/* Returns a number for the device or server of the dataset's files; 0: not known. */
uint64_t storage_device(const struct dataset *dataset);
void storage_status_locked(const struct sched *sched, const struct storage *storage,
	struct sched_storage *ret);
/* Logs which storages have stopped answering, or answer again. */
void storages_report(struct sched *sched);

void supply_execute_locked(struct sched *sched, struct aftermath *aftermath);
/* Queues the wanted sample for the job, unless the sample is being prepared. urgent: a reader of
 * the job waits for the sample. -ENOMEM */
must_check int wanted_request_locked(struct sched_job *job, struct wanted *wanted,
	bool urgent, struct aftermath *aftermath);
void unpin_locked(struct space *space, sample_id sample, struct aftermath *aftermath);
/* Tells the dataset's other samplers that a draw of `sampler` brings the sample into the cache.
 * Ignores samples that were drawn by label, in sequential order or with layout = mirror, and so not
 * at random: if the sampler `exchange` knew them, it would draw some samples too early. */
void space_drawn_locked(
	struct space *space, sample_id sample, const struct sampler *sampler);
/* Tells all samplers of the dataset that the sample has left the cache. */
void space_gone_locked(struct space *space, sample_id sample);
cache_gone sched_cache_gone;

/* --- tasks.c: tasks for workers; callbacks of load_pool_new --- */

struct load_task *sched_next_read(void *context);
void sched_read(void *context, struct load_task *task);
struct load_task *sched_next_decode(void *context);
struct load_task *sched_next_run(void *context);
void sched_load_done(void *context, struct load_task *task);

/* Tells whether to ask another daemon for a sample that is about to be read. */
supply_is_elsewhere fetch_is_due_locked;
/* Asks another daemon for a wanted sample with `fetching` set. May free `wanted`. */
void fetch_begin(struct wanted *wanted);
