// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "sched/sched_internal.h"

/*
 * Functions for the supply: its datasets, tiers and storages, its events and effects, and the tasks
 * that it gives to workers.
 *
 *   Locks: the caller of a function whose name ends in _locked holds the scheduler's lock. The
 *         caller of another function holds no lock, unless its comment says otherwise.
 */

/* --- dataset_list.c --- */

must_check int sources_init(
	struct sched *sched, struct dataset **datasets, size_t n, uint64_t seed);
void sources_free(struct sched *sched);
/* Returns the source of this name that is not removed; NULL: there is none. */
struct sched_source *source_find_locked(const struct sched *sched, const char *name);
/* Opens the earlier edition `number` of the dataset of `now`, whose files were kept. If another
 * source already has this edition open, uses that source. Counts the caller as one of the jobs of
 * *ret. */
must_check int source_open_kept(struct source *now, uint32_t number, struct source **ret);
/* Returns the source of this name. The caller must have taken its dataset. */
struct sched_source *source_taken_locked(const struct sched *sched, const char *name);
/* Adds a source that is marked as removed from the start, so that it is not found by its name.
 * Counts the caller as the only job of the source. */
must_check int source_put_beside(struct sched *sched, struct dataset *dataset,
	const struct dataset_config *config, struct sched_source **ret);
/* Frees the removed sources that have no job. No lock held. */
void sources_sweep(struct sched *sched);

/* --- tiers.c: disks that keep samples as they were read --- */

/* Opens the tier that the source's configuration names, if it names one, or uses the tier if it is
 * already open. Only one thread may call this at a time, without the lock. Errors of the tier are
 * logged. */
must_check int tier_find(
	struct sched_source *source, const struct dataset_config *config);
/* Adds the dataset to its tier. The tier keeps the source's address, so the source must not
 * move. */
must_check int tier_join_locked(struct sched_source *source);
/* Describes the sample to the tier, for the thread that reads it. No lock held. */
struct tier_sample tier_sample_of(
	const struct source *source, sample_id id, const struct dataset_sample *sample);
void tiers_close(struct sched *sched);

/* --- storages.c --- */

/* Returns a number for the device or server that has the dataset's files; 0: not known. */
uint64_t storage_device(const struct dataset *dataset);
void storage_status_locked(const struct sched *sched, const struct storage *storage,
	struct sched_storage *ret);
/* Logs which storages have stopped answering, or answer again. No lock held. */
void storages_report(struct sched *sched);

/* --- supplying.c: the supply's events and effects --- */

static inline struct sched_handle *handle_of_waiter(struct waiter *waiter)
{
	return (struct sched_handle *)((char *)waiter -
				       offsetof(struct sched_handle, waiter));
}

/* Executes the effects of the supply's last event. */
void supply_execute_locked(struct sched *sched, struct aftermath *aftermath);
/* Queues the wanted sample for the job. Does nothing if the sample is already being prepared.
 * urgent: a reader of the job waits for the sample. -ENOMEM */
must_check int wanted_request_locked(struct sched_job *job, struct wanted *wanted,
	bool urgent, struct aftermath *aftermath);
/* Gives back the handle's reference to its tensor or to its wanted sample. */
void handle_detach_locked(struct sched_handle *handle, struct aftermath *aftermath);
/* Removes a pin of the sample. */
void unpin_locked(struct space *space, sample_id sample, struct aftermath *aftermath);
/*
 * Tells the other samplers of the dataset that a draw of `sampler` brings the sample into the
 * cache. Tells them nothing if the sample was not drawn at random: a script asked for a sample with
 * a label, the job reads in sequential order, or layout = mirror is read by name. If the other
 * samplers exchanged their draws for such samples, some samples would be drawn too early.
 */
void space_drawn_locked(
	struct space *space, sample_id sample, const struct sampler *sampler);
/* Tells all samplers of the dataset that the sample is no longer in the cache. */
void space_gone_locked(struct space *space, sample_id sample);
cache_gone sched_cache_gone;

/* --- tasks.c: tasks for workers; callbacks of load_pool_new --- */

struct load_task *sched_next_read(void *context);
void sched_read(void *context, struct load_task *task);
struct load_task *sched_next_decode(void *context);
struct load_task *sched_next_run(void *context);
void sched_load_done(void *context, struct load_task *task);

/* --- fetch.c: tensors from another daemon --- */

/* Tells whether another daemon should be asked for the sample, which is about to be read. */
bool fetch_is_due_locked(const struct wanted *wanted);
/* Asks another daemon for a wanted sample that the supply has marked with `fetching`. When this
 * function returns, the wanted sample may have been freed. */
void fetch_begin(struct wanted *wanted);
