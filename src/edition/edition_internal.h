// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "edition/edition.h"
#include "supply/supply.h"

/* The steps of edition_new, and of editions_restore. Constraints on threads and locks are as in
 * edition.h. */

/* --- selection.c --- */

/* Selects and measures the edition's samples. -EINVAL, reported: the ini is wrong; -ENOMEM. */
must_check int edition_select(
	struct edition *edition, config_report *report, void *context);

/* --- measure.c --- */

/* Measures the tensors of the selected samples: sets edition->readable, and the members of the
 * edition and of its parts whose names end in _bytes. */
must_check int edition_measure(struct edition *edition);

/* --- job_epochs.c --- */

/* Reduces the number of positions to those of the job's rank. -EINVAL, reported: no position is
 * left, because the job has too few samples for its ranks. */
must_check int feed_divide(struct edition *edition, config_report *report, void *context);
/* Makes the job's engine. first: the set of samples that epochs have, until epochs_use_set names
 * another set for later epochs. */
must_check int job_make_epochs(struct job *job, const struct epoch_set *first);

/* --- mixture.c --- */

/* Selects the samples of a mixture. Errors are those of edition_select. */
must_check int mixture_select(
	struct edition *edition, config_report *report, void *context);
/* Hashes the labels of a mixture, and the number of samples that each part has in an
 * epoch. */
uint64_t mixture_fingerprint(const struct edition *edition);

/* --- measured.c --- */

/* Loads the result of an earlier edition_select from a file in the job's directory, so that a
 * restart need not look at each sample again. -ENOENT: there is no file about these samples. */
must_check int measured_load(struct edition *edition);

/* --- sampler_join.c --- */

/* Makes the sampler that draws each sample from the samples of one label (source->labelled), if the
 * source has no such sampler yet. The edition must have only one part. -ENOMEM. The caller must not
 * hold the lock. */
must_check int join_label(const struct edition *edition);

/* --- edition_beside.c --- */

/* Finds the texts and files that come along with the samples, and the labels in columns of numbers.
 * -EINVAL, reported: a column is missing, a label is not a number, no sample has such a text or
 * file, or one of these has too many bytes. */
must_check int edition_beside(
	struct edition *edition, config_report *report, void *context);

/* --- mapping.c --- */

/* Sets job->fixed as the key `mapping` demands. For `mapping = auto` the result depends on
 * all_bytes, the bytes of all tensors of the job's first edition. The caller has measured this
 * edition. */
must_check int mapping_choose(struct job *job, uint64_t all_bytes);
