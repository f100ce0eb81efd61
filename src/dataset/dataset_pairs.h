// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset.h"

/*
 * Samples of two files, such as an image and its mask. The catalogue has each second file as a
 * sample of its own. The key `from` of a job is the second file's path, relative to the directory
 * of the first file; {stem} stands for the first file's name without its ending. Without `from`,
 * samples have no second files. If a preparation has frames, the functions return frames of a video
 * (dataset_groups.h) in place of second files.
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
/* Returns a further file of the sample's tensor; i = 0 means the file after the first. It is the
 * second file of a pair, or a frame of a group. SAMPLE_NONE: there is none. */
sample_id dataset_behind(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id, uint32_t i);
/* Returns the preparation of the sample's files after the first. If a second file has another size
 * than the first file, it is resized to the size to which the first file is resized. */
struct preparation dataset_preparation_behind(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);
/* Tells whether the sample is another sample's second file, or a later frame of a group. */
bool dataset_is_second(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);

#define PAIR_MESSAGE 160
/* Tells whether the second file is missing or unreadable, or can't be resized to the size of the
 * first file. message: NULL, or PAIR_MESSAGE bytes for the reason. */
bool dataset_pair_fails(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id, char *message);
