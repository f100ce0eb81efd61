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

/* Measures the selected samples: sets edition->readable and the sums and sizes of their
 * tensors. */
must_check int edition_measure(struct edition *edition);

/* --- job_epochs.c --- */

/* Reduces the number of positions to those of the rank. -EINVAL, reported: the rank would have
 * none. */
must_check int feed_divide(struct edition *edition, config_report *report, void *context);
/* Makes the job's engine. first: the set of the first epochs. */
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

/* Makes the sampler that exchanges samples within a label, for the edition's only source. -ENOMEM.
 * The caller must not hold the lock. */
must_check int join_label(const struct edition *edition);

/* --- edition_beside.c --- */

/* Finds the texts and files that come along with the samples, and the labels in columns of numbers.
 * -EINVAL, reported: a column is missing, a label is not a number, no sample has such a text or
 * file, or one of these has too many bytes. */
must_check int edition_beside(
	struct edition *edition, config_report *report, void *context);

/* --- mapping.c --- */

/* Sets job->fixed when the job's first edition has been measured. all_bytes: bytes of the edition's
 * tensors. */
must_check int mapping_choose(struct job *job, uint64_t all_bytes);
