// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "edition/edition.h"
#include "supply/supply.h"

/* The steps of edition_new and editions_restore. Threads and locks: see edition.h. */

/* Selects and measures the samples. -EINVAL, reported: the ini is wrong; -ENOMEM. */
must_check int edition_select(
	struct edition *edition, config_report *report, void *context);

/* Sets edition->readable, and the fields *_bytes of the edition and its parts. */
must_check int edition_measure(struct edition *edition);

/* Reduces the positions to those of the job's rank. -EINVAL, reported: the rank has none. */
must_check int feed_divide(struct edition *edition, config_report *report, void *context);
/* Makes job->epochs. first: the set that epochs have until epochs_use_set is called. */
must_check int job_make_epochs(struct job *job, const struct epoch_set *first);

/* Selects the samples of a mixture. Errors are those of edition_select. */
must_check int mixture_select(
	struct edition *edition, config_report *report, void *context);
/* Returns a hash of the mixture's labels, and of the number of samples that each part has in an
 * epoch. */
uint64_t mixture_fingerprint(const struct edition *edition);

/* Loads the result of an earlier edition_select from the job's directory, so that a restart need
 * not look at each sample. -ENOENT: no file was saved for these samples. */
must_check int measured_load(struct edition *edition);

/* Makes source->labelled, if it does not exist: the sampler that draws a sample of a given label.
 * The edition has one part. The caller must not hold the lock. */
must_check int join_label(const struct edition *edition);

/* Finds the texts of the samples, their other files, such as captions, and the numbers in the
 * columns that the key `labels` lists. -EINVAL, reported: a column is missing, a label is no
 * number, no sample has a text or file that the job demands, or a text or file has too many
 * bytes. */
must_check int edition_beside(
	struct edition *edition, config_report *report, void *context);

/* Sets job->fixed as the key `mapping` demands. `auto` depends on all_bytes, the bytes of all
 * tensors of the job's first edition. */
must_check int mapping_choose(struct job *job, uint64_t all_bytes);
