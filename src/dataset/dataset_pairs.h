// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset.h"

/*
 * Samples of two files, such as an image and its mask. The second file is a sample of the
 * catalogue, too. In the job's configuration, the key `from` gives the second file's path relative
 * to the directory of the first file; {stem} stands for the first file's name without its ending.
 *
 *   Flow: dataset_pair has to be called first, when a job or an edition is made.
 *   Owns: the dataset has the pairs until it is closed.
 *   Threads: any; all functions except dataset_pair only read memory.
 *   Errors: those of dataset_paths.
 *
 * If a preparation has no key `from`, its samples have no second files. If a preparation has
 * frames, the functions return the frames of a video instead (dataset_groups.h).
 */

/* Finds the second file of each sample. If the preparation has frames, finds the groups instead
 * (dataset_group). Later calls with the same preparation do nothing. */
must_check int dataset_pair(
	struct dataset *dataset, const struct preparation *preparation);

/* Returns the second file of a sample, such as its mask; SAMPLE_NONE: the sample has none. */
sample_id dataset_second(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);
/* Returns file i (from 0) of the files that follow the sample's first file in its tensor: the
 * second file of a pair, or the further frames of a group. SAMPLE_NONE: there is no file i. */
sample_id dataset_behind(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id, uint32_t i);
/* Returns the preparation of the files after the sample's own file. A second file whose size
 * differs from the first file's is resized to the first file's size. */
struct preparation dataset_preparation_behind(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);
/* Tells whether the sample is the second file of another sample, or a later frame of a group. */
bool dataset_is_second(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);

#define PAIR_MESSAGE 160
/* Tells whether the sample can't be prepared: its second file is missing, can't be read, or has
 * another shape. message: NULL, or PAIR_MESSAGE bytes for the reason. */
bool dataset_pair_fails(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id, char *message);
