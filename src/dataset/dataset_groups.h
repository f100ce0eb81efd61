// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset.h"

/*
 * Samples of several files, as the frames of a video: all files of a directory, in the order of
 * their names, in which numbers are compared as numbers (7.jpg before 10.jpg). The first one is
 * the sample, and a preparation with frames takes so many of them, evenly spaced from it on.
 *
 *   Flow: dataset_group, when a job or an edition is made; from then on the others answer.
 *   Owns: the dataset has them until it is closed.
 *   Threads: any; the functions but dataset_group read memory only.
 *   Errors: -ENOMEM.
 */

must_check int dataset_group(struct dataset *dataset);

/* The i-th frame of those that the preparation takes. SAMPLE_NONE: the directory has fewer files,
 * or the sample is not its first one. */
sample_id dataset_frame(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id, uint32_t i);
/* true: the sample is one of a directory, and not its first one. */
bool dataset_is_later_frame(const struct dataset *dataset, sample_id id);

/* As dataset_pair_fails: a frame is missing, can't be read, or is prepared to another size. */
bool dataset_group_fails(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id, char *message);
