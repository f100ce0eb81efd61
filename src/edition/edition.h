// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/order.h"
#include "sampler/sampler.h"
#include "sched/jobs.h"
#include "sched/after.h"

#include <stdatomic.h>
#include <sys/queue.h>

/*
 * An edition describes the samples of which epochs of a job consist.
 *
 *   edition.c        makes, finds and frees editions; edition_beside.c: texts and files that
 *                    come along with their samples
 *   selection.c      selects the samples of a job; measured.c: notes of the selection
 *   job_epochs.c     the job's configuration, as its epochs need it
 *   mixture.c        editions of several datasets
 *   sampler_join.c   adds a job to its samplers
 *   mapping.c        decides whether a file of layout = classes keeps its sample
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
	roaring_bitmap_t *own;		   /* a mixture's selection; else NULL */
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
	struct sched_job *job;
	atomic_uint holds;
	bool dropped; /* (lock) no epoch has it any more */
	struct part *parts;
	size_t n_parts;
	/* a mixture's is.dataset, which the edition owns; else NULL */
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
	uint32_t *label_begin;	/* classes: first position of each label, and the end */
	uint32_t *labels;	/* labels = fixed: by position */
	float *targets;		/* labels = columns: by sample and column */
	sample_id *by_position; /* EPOCHS_FIXED: the sample of each position */
};

/* --- selection.c: selects the samples of a job, and places them --- */

/* Selects and measures the edition's samples. -EINVAL (reported), -ENOMEM. */
must_check int edition_select(
	struct edition *edition, config_report *report, void *context);
enum epochs_kind job_kind(const struct sched_job *job);
/* Tells whether each position has a label. */
bool edition_fixes_labels(const struct edition *edition);
uint32_t edition_label_of(const struct edition *edition, uint32_t position);

/* --- measure.c --- */

/* Measures the selected samples: sets edition->readable and the sums and sizes of their
 * tensors. */
must_check int edition_measure(struct edition *edition);

/* --- job_epochs.c --- */

/* Tells whether the job serves a rank, whose samples come as its feed. */
bool job_is_fed(const struct sched_job *job);
/* Reduces |D_j| to the part of the rank. -EINVAL (reported): the part would be empty. */
must_check int feed_divide(struct edition *edition, config_report *report, void *context);

/* Makes the job's engine. first: the set of its first epochs. */
must_check int job_make_epochs(struct sched_job *job, const struct epoch_set *first);
/* Returns how many positions one open binds: the length of a batch, else 1. */
uint32_t job_binds_at_once(const struct job_config *config);
/* Returns the most samples that the job's look-ahead may grow to. */
uint32_t job_most_ahead(const struct job_config *config);

/* --- mixture.c: editions of several datasets --- */

/* Selects the samples of a mixture. Errors as edition_select. */
must_check int mixture_select(
	struct edition *edition, config_report *report, void *context);
/* Hashes the labels of a mixture, and the number of samples that each part has in an
 * epoch. */
uint64_t mixture_fingerprint(const struct edition *edition);
/* Makes the set of a part's samples in an epoch, as ids of the source. For a rank it is
 * the set of all ranks together. -ENOMEM */
must_check int part_samples(
	const struct part *part, uint32_t epoch, roaring_bitmap_t **ret);

/* --- measured.c --- */

/* Loads the note about the result of edition_select. The note is a file in the job's
 * directory, so that a restart need not look at each sample again. -ENOENT: there is no
 * note of these samples. */
#define MEASURED_FILE "selection"
must_check int measured_load(struct edition *edition);
/* Writes the note. An error is logged, and has no other effect than that a restart looks
 * at all samples again. */
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

/* --- edition.c --- */

/* Makes an edition of n sources, and counts the job as one of the jobs of each source.
 * Configuration errors are reported. */
must_check int edition_new(struct sched_job *job, struct source *const *sources, size_t n,
	config_report *report, void *context, struct edition **ret);
/* Finds the texts and files that come along with the samples, and the numbers of label
 * columns (edition_beside.c). -EINVAL, reported: a column is missing, a label is not a
 * number, no sample has such a text or file, or they have too many bytes. */
must_check int edition_beside(
	struct edition *edition, config_report *report, void *context);
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
/* Removes a pin from a sample of the edition. */
void edition_unpin_locked(
	struct edition *edition, sample_id sample, struct aftermath *aftermath);
/* Frees an edition that no epoch has and nobody holds. No lock held. */
void edition_free(struct edition *edition);
void edition_leave_samplers_locked(struct edition *edition);
/* Returns the edition of an epoch or of SCHED_CURRENT, as epochs_set defines it. */
struct edition *edition_of_locked(const struct sched_job *job, uint32_t epoch);
/* Returns the edition of an epoch or of SCHED_CURRENT, held until edition_let_go. No lock
 * held. */
struct edition *edition_hold(struct sched_job *job, uint32_t epoch);
void edition_let_go(struct edition *edition);
struct order_set edition_order_set(const struct edition *edition);
/* Lists the sets of all editions of the job. The caller frees the list. NULL: no memory. */
struct order_set *edition_order_sets(struct sched_job *job, size_t *ret_n);
/* Frees the editions that no epoch has any more. Called by the clerk. */
void editions_sweep(struct sched_job *job);
/* Makes the job's engine, and the editions of its earlier epochs, as far as files in the
 * job's directory name them. Before this call the job has one edition. */
must_check int editions_restore(struct sched_job *job);

/* --- mapping.c: which sample a file of layout = classes holds --- */

/* Sets job->fixed when the job's first edition has been measured. all_bytes: bytes of its
 * tensors. */
must_check int mapping_choose(struct sched_job *job, uint64_t all_bytes);
/* Saves the choice of `auto` in the job's directory. */
must_check int mapping_keep(const struct sched_job *job);
