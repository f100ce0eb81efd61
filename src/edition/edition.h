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
 * An edition describes the samples of which epochs of a job consist.
 *
 *   edition.c        makes, finds and frees editions; edition_beside.c: texts and files that
 *                    come along with their samples
 *   selection.c      selects the samples of a job; measure.c: measures their tensors;
 *                    measured.c: keeps a note of both
 *   job_epochs.c     derives the settings of epochs from the job's configuration
 *   mixture.c        makes editions of several datasets; parts.c: finds the part of a sample
 *   sampler_join.c   adds a job to its samplers
 *   mapping.c        decides whether a file of layout = classes keeps its sample
 *
 *   Flow: edition_new -> join -> epochs begin with it -> editions_sweep, or edition_free.
 *   Owns: its selection, and the tables made from it. A job owns its editions; the supply owns
 *         sources and spaces.
 *   Threads: any thread that holds the edition or the lock.
 *   Locks: job->lock; the caller of a function whose name ends in _locked holds it.
 *   Errors: -errno; errors of the ini are reported.
 */

struct source;
struct space;

/* The samples of an edition that come from one dataset. Only a mixture has several parts. */
struct part {
	struct edition *edition;
	struct source *source;
	struct space *space;
	struct sampler *sampler; /* NULL: samples are not drawn */
	bool joined;		 /* (lock) the job has joined the sampler */
	sample_id first; /* the edition's id of the source's sample 0; see part_of */
	roaring_bitmap_t *own;		   /* selection of a mixture; NULL: no mixture */
	const roaring_bitmap_t *selection; /* ids of the source */
	uint64_t all_bytes;		   /* bytes of all its tensors */
	uint32_t in_epoch;		   /* number of its samples in each epoch */
	uint64_t seed;			   /* seed of a mixture's passes */
};

/*
 * The samples of the epochs of a job, from the first epoch after a scan of its dataset to
 * the last one before the next scan. Constant, but for the fields marked (lock). An
 * edition is freed, by the clerk or with its job, when none of these epochs is kept and
 * nobody holds it.
 */
struct edition {
	struct sched_edition is;   /* the part that other modules see */
	TAILQ_ENTRY(edition) link; /* (lock) the job's editions, the oldest first */
	struct job *job;
	atomic_uint holds;
	bool dropped; /* (lock) no epoch has it any more */
	struct part *parts;
	size_t n_parts;
	/* the mixture in is.dataset, which the edition owns; NULL: no mixture */
	struct dataset *mixed;
	struct epoch_set set;	     /* the epochs' samples, as the engine knows them */
	uint64_t fingerprint;	     /* hash of content, job_kind, mixture and rank */
	uint64_t content;	     /* dataset_fingerprint of the selected samples */
	bool noted;		     /* measured_load has found a note of the selection */
	roaring_bitmap_t *selection; /* D_j */
	roaring_bitmap_t *readable;  /* D_j without refused or unreadable samples */
	uint64_t largest_bytes;	     /* largest tensor */
	uint64_t all_bytes;	     /* all tensors together */
	uint64_t sample_bytes;	     /* mean of the tensors */
	uint64_t typical_bytes;	     /* three of four tensors are no larger */
	uint32_t *label_begin;	     /* layout = classes: see is.label_begin */
	uint32_t *labels;	     /* labels = fixed: by position */
	float *targets;		     /* labels = columns: by sample and column */
	const sample_id *by_position; /* EPOCHS_FIXED: the sample of each position */
	sample_id *own_by_position; /* the array if it is not the dataset's; else NULL */
};

/* --- selection.c: the labels of positions --- */

/* Tells whether each position has a label. */
bool edition_fixes_labels(const struct edition *edition);
uint32_t edition_label_of(const struct edition *edition, uint32_t position);
/* Finds the label of a position that does not depend on the order of the epoch. false: there is
 * none. */
bool edition_label(const struct edition *edition, uint32_t position, uint32_t *ret);

/* --- mixture.c: editions of several datasets --- */

/* Makes the set of a part's samples in an epoch, as ids of the source. For a rank it is
 * the set of all ranks together. -ENOMEM */
must_check int part_samples(
	const struct part *part, uint32_t epoch, roaring_bitmap_t **ret);

/* --- measured.c --- */

#define MEASURED_FILE "selection" /* in the job's directory */
/* Writes the note about the selection. An error is logged, and has no other effect than that a
 * restart looks at all samples again. */
void measured_save(const struct edition *edition);

/* --- sampler_join.c: adds a job to its sampler --- */

/* Gives the part its space, and begins to join its sampler. *ret is unchanged if the part has no
 * sampler. No lock held. */
must_check int join_begin(struct part *part, struct sampler_joining **ret);
/* Joins the sampler. -EAGAIN: begin again. */
must_check int join_finish_locked(struct part *part, struct sampler_joining *joining);
/* Joins the samplers of the parts from index `from` on. No other thread has the edition
 * yet, though its job may be known. No lock held. */
must_check int join(struct edition *edition, size_t from);

/* --- parts.c --- */

/* Returns the part of a sample of the edition. Its id in the source is sample - first. */
struct part *part_of(const struct edition *edition, sample_id sample);
/* Returns the part of a dataset, or NULL. */
const struct part *edition_part_of(
	const struct edition *edition, const struct dataset *dataset);
/* Returns the part of a source, or NULL. */
const struct part *edition_part_of_source(
	const struct edition *edition, const struct source *source);
/* Returns the part of a space, or NULL. */
const struct part *edition_part_in(
	const struct edition *edition, const struct space *space);

/* --- edition.c --- */

/* Makes an edition of n sources, and counts the job as one of the jobs of each source.
 * Configuration errors are reported. */
must_check int edition_new(struct job *job, struct source *const *sources, size_t n,
	config_report *report, void *context, struct edition **ret);
/* Frees an edition that no epoch has and nobody holds. No lock held. Its spaces are left to
 * spaces_leave. */
void edition_free(struct edition *edition);
void edition_leave_samplers_locked(struct edition *edition);
/* Returns the edition of an epoch or of EPOCH_CURRENT, as epochs_set defines it. */
struct edition *edition_of_locked(const struct job *job, uint32_t epoch);
/* Returns the edition of an epoch or of EPOCH_CURRENT, held until edition_let_go. No lock
 * held. */
struct edition *edition_hold(struct job *job, uint32_t epoch);
void edition_let_go(struct edition *edition);
struct order_set edition_order_set(const struct edition *edition);
/* Lists the sets of all editions of the job. The caller frees the list. NULL: no memory. */
struct order_set *edition_order_sets(struct job *job, size_t *ret_n);
/* Frees the editions that no epoch has any more. Returns true if there was one. Called by the
 * clerk. */
bool editions_sweep(struct job *job);

/* The sets of samples that files in the job's directory name. */
struct editions_found {
	/* sets in the journal, and sets in saved orders */
	struct order_found *segments, *orders;
	size_t n_segments, n_orders;
};
/* Reads the sets. The caller calls editions_found_free, also after a failure. */
must_check int editions_find(const struct job *job, struct editions_found *ret);
void editions_found_free(struct editions_found *found);
/* Tells whether the job has an edition of each set. */
bool editions_are_there(const struct job *job, const struct editions_found *found);
/* Makes the job's engine, gives its earlier epochs their editions, and frees the editions that
 * no epoch has. */
must_check int editions_restore(struct job *job, const struct editions_found *found);

/* --- mapping.c: which sample a file of layout = classes holds --- */

/* Saves the choice of `auto` in the job's directory. */
must_check int mapping_keep(const struct job *job);
