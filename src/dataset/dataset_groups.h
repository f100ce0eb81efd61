// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset.h"

/*
 * Samples of several files, such as the frames of a video. A group consists of all files of a
 * directory, in the order of their names, where numbers are compared as numbers (7.jpg before
 * 10.jpg). The first file is the sample. A preparation with frames = N uses N evenly spaced files,
 * beginning with the first.
 *
 *   Flow: dataset_group must be called first, when a job selects its samples.
 *   Owns: the dataset has the groups until it is closed.
 *   Threads: any; after dataset_group only memory is read. Errors: -ENOMEM.
 */

must_check int dataset_group(struct dataset *dataset);

/* Returns the file that is frame i (from 0) of the preparation. SAMPLE_NONE: the preparation has
 * no frame i, the group has too few files, or `id` is not the first file of a group. */
sample_id dataset_frame(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id, uint32_t i);
/* Tells whether the sample is not the first file of its directory. */
bool dataset_is_later_frame(const struct dataset *dataset, sample_id id);

/* Tells whether a frame is missing or unreadable, or differs from the first in prepared size or
 * kind of pixels. message: NULL, or PAIR_MESSAGE bytes for the reason. */
bool dataset_group_fails(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id, char *message);
