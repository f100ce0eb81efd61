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
 * An edition describes the samples that some epochs of a job have.
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
 *   Threads: any thread that has a reference to the edition, or holds the lock.
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
	struct sampler *sampler; /* NULL: the samples are not drawn */
	bool joined;		 /* (lock) the job has joined the sampler */
	sample_id first;	 /* the id, in the edition, of the source's sample 0 */
	/* owned selection, if the part is of a mixture; otherwise NULL */
	roaring_bitmap_t *own;
	/* selected samples, by their ids in the source */
	const roaring_bitmap_t *selection;
	uint64_t all_bytes; /* bytes of all tensors of the part */
	/* number of the part's samples in each epoch */
	uint32_t in_epoch;
	uint64_t seed; /* seed of the part's passes in a mixture (epoch/passes.h) */
};

/* The samples of the epochs of a job, from the first epoch after a scan of its dataset to the last
 * one before the next scan. Constant, except for the members marked (lock). When none of these
 * epochs is kept and nobody has a reference, the clerk frees the edition, or it is freed with its
 * job. */
struct edition {
	struct sched_edition is;   /* the members that other modules see */
	TAILQ_ENTRY(edition) link; /* (lock) the job's editions, the oldest first */
	struct job *job;
	atomic_uint holds;
	bool dropped; /* (lock) no epoch has this edition any more */
	struct part *parts;
	size_t n_parts;
	/* The mixture that is.dataset refers to, and that the edition owns; NULL: is.dataset is no
	 * mixture. */
	struct dataset *mixed;
	struct epoch_set set; /* the samples of the epochs, for the engine */
	uint64_t fingerprint; /* hash of `content`, job_kind, mixture and rank */
	uint64_t content;     /* dataset_fingerprint of the selected samples */
	/* the selection was loaded from a file of the job's directory (measured_load) */
	bool noted;
	roaring_bitmap_t *selection; /* ids of the selected samples */
	roaring_bitmap_t *readable;  /* selection without refused or unreadable samples */
	uint64_t largest_bytes;	     /* bytes of the largest tensor */
	uint64_t all_bytes;	     /* bytes of all tensors together */
	uint64_t sample_bytes;	     /* mean of the tensors' bytes */
	/* three quarters of the tensors have at most this number of bytes */
	uint64_t typical_bytes;
	/* is.label_begin, for layout = classes; otherwise NULL */
	uint32_t *label_begin;
	/* label of each position, for the key `labels = fixed`; otherwise NULL */
	uint32_t *labels;
	/* is.targets, if the key `labels` names columns of numbers; otherwise NULL */
	float *targets;
	/* sample of each position, for EPOCHS_FIXED; otherwise NULL */
	const sample_id *by_position;
	/* by_position, if the edition owns this array; otherwise NULL */
	sample_id *own_by_position;
};

/* --- selection.c: the labels of positions --- */

/* Tells whether the edition fixes the label of each position. */
bool edition_fixes_labels(const struct edition *edition);
uint32_t edition_label_of(const struct edition *edition, uint32_t position);
/* Sets *ret to the label of a position, if the label does not depend on the order of the epoch.
 * Returns false if the label depends on it, or if there is no such position. */
bool edition_label(const struct edition *edition, uint32_t position, uint32_t *ret);

/* --- mixture.c: editions of several datasets --- */

/* Makes the set of a part's samples in an epoch, as ids of the source. If the job is a rank, the
 * set has the samples of all ranks. -ENOMEM */
must_check int part_samples(
	const struct part *part, uint32_t epoch, roaring_bitmap_t **ret);

/* --- measured.c --- */

#define MEASURED_FILE "selection" /* name of a file in the job's directory */
/* Saves the selection and its measurements in the job's directory, for measured_load. An error is
 * logged, and then a restart looks at all samples again. */
void measured_save(const struct edition *edition);

/* --- sampler_join.c: adds a job to its sampler --- */

/* Gives the part its space (the tensors of its preparation), and prepares what the job needs to
 * join the part's sampler: *ret, which is left unchanged if the part has no sampler. The caller
 * must not hold the lock. */
must_check int join_begin(struct part *part, struct sampler_joining **ret);
/* Makes the job join the part's sampler. -EAGAIN: another job came or went meanwhile; the caller
 * has to call join_begin again. */
must_check int join_finish_locked(struct part *part, struct sampler_joining *joining);
/* Makes the job join the samplers of the edition's parts, from index `from` on. Other threads must
 * not have the edition yet, though they may know the job. The caller must not hold the lock. */
must_check int join(struct edition *edition, size_t from);

/* --- parts.c --- */

/* Returns the part that has the sample. In the part's source, the sample has the id sample -
 * part->first. */
struct part *part_of(const struct edition *edition, sample_id sample);
/* Returns the part that comes from the dataset, or NULL. */
const struct part *edition_part_of(
	const struct edition *edition, const struct dataset *dataset);
/* Returns the part that comes from the source, or NULL. */
const struct part *edition_part_of_source(
	const struct edition *edition, const struct source *source);
/* Returns the part whose tensors are in the space (which has a dataset and a preparation), or
 * NULL. */
const struct part *edition_part_in(
	const struct edition *edition, const struct space *space);

/* --- edition.c --- */

/* Makes an edition of n sources, and counts the job as one of the jobs of each source. Errors of
 * the configuration are reported. */
must_check int edition_new(struct job *job, struct source *const *sources, size_t n,
	config_report *report, void *context, struct edition **ret);
/* Frees an edition that no epoch has and to which nobody has a reference. The caller must not hold
 * the lock. spaces_leave frees the tensors later. */
void edition_free(struct edition *edition);
void edition_leave_samplers_locked(struct edition *edition);
/* Returns the edition of an epoch or of EPOCH_CURRENT, as epochs_set defines it. */
struct edition *edition_of_locked(const struct job *job, uint32_t epoch);
/* Returns a reference to the edition of an epoch or of EPOCH_CURRENT, which edition_let_go gives
 * back. The caller must not hold the lock. */
struct edition *edition_hold(struct job *job, uint32_t epoch);
void edition_let_go(struct edition *edition);
struct order_set edition_order_set(const struct edition *edition);
/* Returns a list with the set of samples of each edition of the job. The caller frees the list.
 * NULL: no memory. */
struct order_set *edition_order_sets(struct job *job, size_t *ret_n);
/* Frees the editions that no epoch has any more. Returns true if there was such an edition. The
 * clerk calls this function. */
bool editions_sweep(struct job *job);

/* The sets of samples that are named in files of the job's directory. */
struct editions_found {
	/* sets in the segments of the journal, and in saved orders */
	struct order_found *segments, *orders;
	size_t n_segments, n_orders;
};
/* Reads from the job's directory which sets of samples its epochs have. The caller must call
 * editions_found_free, also after a failure. */
must_check int editions_find(const struct job *job, struct editions_found *ret);
void editions_found_free(struct editions_found *found);
/* Tells whether the job has an edition for each of the sets. */
bool editions_are_there(const struct job *job, const struct editions_found *found);
/* Makes the job's engine, gives earlier epochs their editions, and frees the editions that no epoch
 * has. */
must_check int editions_restore(struct job *job, const struct editions_found *found);

/* --- mapping.c: which sample a file of layout = classes holds --- */

/* Saves in the job's directory which mapping was chosen for `mapping = auto`. */
must_check int mapping_keep(const struct job *job);
