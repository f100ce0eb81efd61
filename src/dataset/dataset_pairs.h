// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset.h"

/*
 * Samples of two files, such as an image and its mask, which is a sample of the catalogue, too. The
 * key `from` of a job is the second file's path, relative to the first file's directory; {stem}
 * stands for the first file's name without its ending. Without `from` samples have no second files.
 * If a preparation has frames, the functions return the frames of a video instead
 * (dataset_groups.h).
 *
 *   Flow: dataset_pair must be called first, when a job selects its samples.
 *   Owns: the dataset has the pairs until it is closed.
 *   Threads: any; after dataset_pair only memory is read.
 *   Errors: those of dataset_paths.
 */

/* Finds the second files, or the groups for frames, if not yet known for this preparation. */
must_check int dataset_pair(
	struct dataset *dataset, const struct preparation *preparation);

/* Returns SAMPLE_NONE if the sample has no second file. */
sample_id dataset_second(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);
/* Returns file i (from 0) after the first in the sample's tensor: the second file of a
 * pair, or a further frame of a group. SAMPLE_NONE: there is none. */
sample_id dataset_behind(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id, uint32_t i);
/* Returns the preparation of files after the first. A second file gets the first's size. */
struct preparation dataset_preparation_behind(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);
/* Tells whether the sample is another's second file, or a later frame of a group. */
bool dataset_is_second(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);

#define PAIR_MESSAGE 160
/* Tells whether the second file is missing or unreadable, or can't be resized to the first.
 * message: NULL, or PAIR_MESSAGE bytes for the reason. */
bool dataset_pair_fails(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id, char *message);
