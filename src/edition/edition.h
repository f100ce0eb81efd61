// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "epoch/order.h"
#include "sampler/sampler.h"
#include "sched/jobs.h"
#include "section/section.h"

#include <stdatomic.h>
#include <sys/queue.h>

/*
 * What the epochs of a job are made of.
 *
 *   edition.c        editions come and go; edition_beside.c: what comes along with their samples
 *   selection.c      the samples of a job; measured.c: notes of them
 *   job_epochs.c     what the configuration of a job says of its epochs
 *   mixture.c        editions of several datasets
 *   sampler_join.c   how a job comes to its samplers
 */

struct source;
struct space;

/* Where samples of an edition come from: of a mixture one for each dataset, else one. */
struct part {
	struct edition *edition;
	struct source *source;
	struct space *space;
	struct sampler *sampler; /* NULL: samples are not drawn */
	bool joined;		 /* (lock) it, by the job */
	/* The sample of the edition that is the source's 0; part_of. */
	sample_id first;
	roaring_bitmap_t *own;		   /* of a mixture: its selection */
	const roaring_bitmap_t *selection; /* ids of the source */
	uint64_t all_bytes;		   /* of their tensors */
	uint32_t in_epoch;		   /* so many of them an epoch has */
	uint64_t seed;			   /* of a mixture: of its passes */
};

/*
 * What the epochs of a job are made of, from the first one after a scan of its dataset to the
 * last one before the next scan. Constant, but for what the lock says. It is freed when none
 * of these epochs is kept and nobody holds it: by the clerk, or with its job.
 */
struct edition {
	struct sched_edition is;   /* what others see */
	TAILQ_ENTRY(edition) link; /* (lock) of the job's, the oldest first */
	struct sched_job *job;
	atomic_uint holds;
	bool dropped; /* (lock) no epoch is made of it */
	struct part *parts;
	size_t n_parts;
	struct dataset *mixed;	     /* of a mixture: is.dataset, its own */
	struct epoch_set set;	     /* the engine's */
	uint64_t fingerprint;	     /* of the selected samples, and job_kind */
	uint64_t content;	     /* of the selected samples: dataset_fingerprint */
	bool noted;		     /* measured_load has found what is known of them */
	roaring_bitmap_t *selection; /* D_j */
	roaring_bitmap_t *readable;  /* D_j without what is refused for its size */
	uint64_t largest_bytes;	     /* of a tensor */
	uint64_t all_bytes;	     /* of the tensors of all that it selects */
	uint64_t sample_bytes;	     /* of one, in the mean */
	uint64_t typical_bytes;	     /* three of four tensors are no larger */
	uint32_t *label_begin;	/* classes: first position of each label, and the end */
	uint32_t *labels;	/* labels = fixed: by position */
	float *targets;		/* labels = columns: by sample and column */
	sample_id *by_position; /* in dataset order: the sample of each */
};

/* --- selection.c: the samples of a job, and those that positions stand for --- */

/* -EINVAL (reported), -ENOMEM. */
must_check int edition_select(
	struct edition *edition, config_report *report, void *context);
enum epochs_kind job_kind(const struct sched_job *job);
bool edition_fixes_labels(const struct edition *edition);
uint32_t edition_label_of(const struct edition *edition, uint32_t position);

/* --- job_epochs.c --- */

bool job_is_fed(const struct sched_job *job);
/* |D_j| becomes the part of the rank. -EINVAL (reported): that is nothing. */
must_check int feed_divide(struct edition *edition, config_report *report, void *context);

/* The engine; first: what its first epochs are made of. */
must_check int job_make_epochs(struct sched_job *job, const struct epoch_set *first);
/* So many positions an open binds at once: those of a batch, else 1. */
uint32_t job_binds_at_once(const struct job_config *config);
/* Samples that the job's look-ahead may grow to. */
uint32_t job_most_ahead(const struct job_config *config);

/* --- mixture.c: editions of several datasets --- */

/* As edition_select does it for one. */
must_check int mixture_select(
	struct edition *edition, config_report *report, void *context);
/* Of what its epochs are, beside their samples. */
uint64_t mixture_fingerprint(const struct edition *edition);
/* What of a part an epoch has; of a rank nothing that this node would know of. -ENOMEM */
must_check int part_samples(
	const struct part *part, uint32_t epoch, roaring_bitmap_t **ret);

/* --- measured.c --- */

/*
 * What edition_select finds by looking at each sample is noted in the job's directory, so that
 * the next engine needs not look: measured.c. -ENOENT: there is no note of these samples.
 */
#define MEASURED_FILE "selection"
must_check int measured_load(struct edition *edition);
/* A note that can't be written is missed by the next engine only, which is logged. */
void measured_save(const struct edition *edition);

/* --- sampler_join.c: how a job comes to its sampler --- */

/* The part gets its space. *ret stays as it is where there is no sampler. No lock held. */
must_check int join_begin(struct part *part, struct sampler_joining **ret);
/* -EAGAIN: to be begun again. */
must_check int join_finish_locked(struct part *part, struct sampler_joining *joining);
/* Both, of the parts from this one on of an edition that nobody else has yet, or whose job is
 * there. No lock held. */
must_check int join(struct edition *edition, size_t from);

/* --- edition.c --- */

/* Of n sources, whose counts of jobs have one more then. What can't be is reported. */
must_check int edition_new(struct sched_job *job, struct source *const *sources, size_t n,
	config_report *report, void *context, struct edition **ret);
/* edition_beside.c: finds what comes along with its samples. -EINVAL, reported: some lack it. */
must_check int edition_beside(
	struct edition *edition, config_report *report, void *context);
/* The one that a sample of the edition is of; its id in the source is sample - first. */
struct part *part_of(const struct edition *edition, sample_id sample);
/* The one of a dataset, of a source, of a space, or NULL. */
const struct part *edition_part_of(
	const struct edition *edition, const struct dataset *dataset);
const struct part *edition_part_of_source(
	const struct edition *edition, const struct source *source);
const struct part *edition_part_in(
	const struct edition *edition, const struct space *space);
/* A sample of the edition is unpinned. */
void edition_unpin_locked(
	struct edition *edition, sample_id sample, struct aftermath *aftermath);
/* No epoch is made of it. No lock held. */
void edition_free(struct edition *edition);
void edition_leave_samplers_locked(struct edition *edition);
/* epoch: or SCHED_CURRENT, as epochs_set. */
struct edition *edition_of_locked(const struct sched_job *job, uint32_t epoch);
struct edition *edition_hold(struct sched_job *job, uint32_t epoch);
void edition_let_go(struct edition *edition);
struct order_set edition_order_set(const struct edition *edition);
/* Those of the job's epochs; the caller frees it. NULL: no memory. */
struct order_set *edition_order_sets(struct sched_job *job, size_t *ret_n);
/* By the clerk: frees those of which no epoch is made any more. */
void editions_sweep(struct sched_job *job);
/* With the engine: which edition the epochs so far have, as the files in the job's directory
 * tell. The job has one edition. */
must_check int editions_restore(struct sched_job *job);

/* --- mapping.c: what a file of layout = classes holds --- */

/* Decides about job->fixed when its first edition is measured; all_bytes: of its tensors. */
must_check int mapping_choose(struct sched_job *job, uint64_t all_bytes);
/* Writes the choice of `auto` to the job's state. */
must_check int mapping_keep(const struct sched_job *job);
