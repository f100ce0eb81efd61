// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset.h"

/*
 * Samples of two files, such as an image and its mask. The second file is a sample of the
 * catalogue, too. `from` of a preparation's section gives its path, relative to the first file's
 * directory, with {stem} for the first file's name without the ending.
 *
 *   Flow: dataset_pair, when a job or an edition is made; then the other functions answer.
 *   Owns: the dataset has the pairs until it is closed.
 *   Threads: any; all functions but dataset_pair read memory only.
 *   Errors: as dataset_paths.
 *
 * A preparation without a pair has no second files. For a preparation with frames these
 * functions ask the groups (dataset_groups.h).
 */

/* Finds the second file of each sample, or the groups, unless the dataset has them already. */
must_check int dataset_pair(
	struct dataset *dataset, const struct preparation *preparation);

/* Returns the second file of a sample; SAMPLE_NONE: there is none. */
sample_id dataset_second(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);
/* Returns the i-th file that is prepared behind the sample's own file: the second file of a pair,
 * or a frame of a group. SAMPLE_NONE: there is none. */
sample_id dataset_behind(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id, uint32_t i);
/* Returns how files behind the sample's own are prepared. A second file of another size than the
 * first one is resized to the size that the first one is resized to. */
struct preparation dataset_preparation_behind(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);
/* Tells whether the sample is the second file of another one, or a later frame of a group. */
bool dataset_is_second(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);

#define PAIR_MESSAGE 160
/* Tells whether the sample can't be prepared: its second file is missing, can't be read, or has
 * another shape. message: NULL, or room for PAIR_MESSAGE bytes, which then say why. */
bool dataset_pair_fails(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id, char *message);
