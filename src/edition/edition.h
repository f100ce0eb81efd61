// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "edition/job.h"
#include "edition/samples.h"
#include "epoch/order.h"
#include "sampler/sampler.h"

#include <stdatomic.h>
#include <sys/queue.h>

/*
 * An edition describes the samples of a job in those epochs that use the same scan of the dataset.
 *
 *   Flow: edition_new -> join -> epochs begin with the edition -> editions_sweep, or edition_free.
 *   Owns: an edition owns its selection, and the tables made from it. A job owns its editions; the
 *         supply owns sources and spaces.
 *   Threads: any thread that has a reference to the edition, or holds the lock.
 *   Locks: job->lock protects the fields marked (lock). Functions ..._locked need this lock.
 *   Errors: -errno. Errors in the job's ini are also reported.
 */

struct source;
struct space;

/* The edition's samples from one dataset. Only a mixture has several parts. */
struct part {
	struct edition *edition;
	struct source *source;
	struct space *space;
	struct sampler *sampler; /* NULL: no sampler draws the samples */
	bool joined;		 /* (lock) the job has joined the sampler */
	/* a sample's id in the edition is `first` plus its id in the source */
	sample_id first;
	roaring_bitmap_t *own; /* `selection`, if the part has to free it; or NULL */
	const roaring_bitmap_t *selection; /* ids of the selected samples in the source */
	uint64_t all_bytes;		   /* bytes of all tensors of the part */
	uint32_t in_epoch; /* number of the part's samples in each epoch */
	/* decides which samples of a mixture's part each epoch has (epoch/passes.h) */
	uint64_t seed;
};

/* All fields are constant, except those marked (lock). The clerk, a thread of the scheduler, frees
 * an edition when no epoch has it and no reference is left. An edition that is never freed in this
 * way is freed with its job. */
struct edition {
	struct sched_edition is;   /* the fields that callers of the scheduler see */
	TAILQ_ENTRY(edition) link; /* (lock) in job->editions, oldest first */
	struct job *job;
	atomic_uint holds;
	bool dropped; /* (lock) no epoch has this edition any more */
	struct part *parts;
	size_t n_parts;
	/* the dataset that was made from all datasets of a mixture, and is freed with the edition;
	 * `is.dataset` points to it. NULL: no mixture */
	struct dataset *mixed;
	struct epoch_set set; /* the fields that src/epoch sees */
	/* hash of `content`, and of the settings that decide which sample a position has */
	uint64_t fingerprint;
	uint64_t content; /* hash of the selected samples */
	bool noted;	  /* measured_load has loaded the selection from a file */
	roaring_bitmap_t *selection; /* ids of the selected samples */
	/* the samples of `selection` that can be read within all limits */
	roaring_bitmap_t *readable;
	uint64_t largest_bytes; /* bytes of the largest tensor */
	uint64_t all_bytes;	/* bytes of all tensors together */
	uint64_t sample_bytes;	/* mean bytes of a tensor */
	uint64_t typical_bytes; /* three quarters of the tensors have at most this size */
	uint32_t *label_begin;	/* first position of each label, or NULL */
	uint32_t *labels;	/* label of each position if fixed, or NULL */
	/* numbers from the columns of the key `labels` (samples.h); or NULL */
	float *targets;
	const sample_id *by_position; /* sample of each position if fixed, or NULL */
	sample_id *own_by_position;   /* by_position, if it has to be freed */
};

/* --- selection.c: the labels of positions --- */

/* Tells whether each position has the same label in all epochs. */
bool edition_fixes_labels(const struct edition *edition);
uint32_t edition_label_of(const struct edition *edition, uint32_t position);
/* Sets *ret to the position's label. Returns false if the label depends on the epoch, or if there
 * is no such position. */
bool edition_label(const struct edition *edition, uint32_t position, uint32_t *ret);

/* --- mixture.c: editions of several datasets --- */

/* Sets *ret to the samples that the part has in the epoch. The ids are those of the source. All
 * ranks of a training are included. The caller frees *ret. -ENOMEM */
must_check int part_samples(
	const struct part *part, uint32_t epoch, roaring_bitmap_t **ret);

/* --- measured.c --- */

#define MEASURED_FILE "selection" /* a file in the job's directory */
/* Saves the selection and the measurements for measured_load after a restart. Logs errors. */
void measured_save(const struct edition *edition);

/* --- sampler_join.c: adds a job to its sampler --- */

/* Does the last step of join_part: takes the lock, and calls join_finish_locked. */
typedef int join_finish(struct part *part, struct sampler_joining *joining);
/* Gives the part its space in the cache. Adds the job to the part's sampler, if the part has one,
 * in three steps; `finish` does the last step. The caller must not hold the lock. */
must_check int join_part(struct part *part, join_finish *finish);
/* Does the last step of join_part: adds the job to the part's sampler. -EAGAIN: the sampler's jobs
 * have changed since the first step, so the caller repeats all steps. */
must_check int join_finish_locked(struct part *part, struct sampler_joining *joining);
/* Adds the job to the samplers of the edition's parts, from index `from` on. Other threads may use
 * the job meanwhile, but not the edition. The caller must not hold the lock. */
must_check int join(struct edition *edition, size_t from);

/* --- parts.c --- */

struct part *part_of(const struct edition *edition, sample_id sample);
/* Returns the part that comes from the dataset, or NULL. */
const struct part *edition_part_of(
	const struct edition *edition, const struct dataset *dataset);
/* Returns the part whose tensors are in the space, or NULL. */
const struct part *edition_part_in(
	const struct edition *edition, const struct space *space);

/* --- edition.c --- */

/* Makes an edition from n sources, and counts it in the field `jobs` of each source. */
must_check int edition_new(struct job *job, struct source *const *sources, size_t n,
	config_report *report, void *context, struct edition **ret);
/* Frees an edition that no epoch has and to which no reference is left. The tensors stay in the
 * cache until spaces_leave evicts them. The caller must not hold the lock. */
void edition_free(struct edition *edition);
void edition_leave_samplers_locked(struct edition *edition);
/* Returns the epoch's edition. EPOCH_CURRENT stands for the epoch that a new script would read. */
struct edition *edition_of_locked(const struct job *job, uint32_t epoch);
/* Returns the epoch's edition with a new reference, which edition_let_go drops. Takes the lock. */
struct edition *edition_hold(struct job *job, uint32_t epoch);
void edition_let_go(struct edition *edition);
struct order_set edition_order_set(const struct edition *edition);
/* Returns an array with the order_set of each edition. The caller frees it; NULL: no memory. */
struct order_set *edition_order_sets(struct job *job, size_t *ret_n);
/* Frees the editions without epochs and references. Returns true if there were any. */
bool editions_sweep(struct job *job);

struct editions_found {
	/* the sets of samples that the journal's segments and the saved orders name */
	struct order_found *segments, *orders;
	size_t n_segments, n_orders;
};
/* Finds the sets of samples that the files in the job's directory name. The caller then calls
 * editions_found_free, also after a failure. */
must_check int editions_find(const struct job *job, struct editions_found *ret);
void editions_found_free(struct editions_found *found);
/* Tells whether the job has an edition for each set in `found`. */
bool editions_are_there(const struct job *job, const struct editions_found *found);
/* Makes job->epochs with the editions of `found`. Frees the editions that no epoch has. */
must_check int editions_restore(struct job *job, const struct editions_found *found);

/* --- mapping.c: which sample a file of layout = classes holds --- */

/* Saves the mapping that was chosen for `mapping = auto`. */
must_check int mapping_keep(const struct job *job);
