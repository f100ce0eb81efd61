// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset.h"

/*
 * Samples of two files, as an image and its mask: the second file is a sample of the catalogue,
 * too, whose path follows from that of the first one by `from` of a preparation's sections:
 * a path relative to the first file's directory, with {stem} for its name without the ending.
 *
 *   Flow: dataset_pair, when a job or an edition is made; from then on the others answer.
 *   Owns: the dataset has them until it is closed.
 *   Threads: any; the functions but dataset_pair read memory only.
 *   Errors: as dataset_paths.
 *
 * Preparations without a pair have no second files. Those with frames have groups
 * (dataset_groups.h), for which these functions ask.
 */

must_check int dataset_pair(
	struct dataset *dataset, const struct preparation *preparation);

/* SAMPLE_NONE: the sample has none. */
sample_id dataset_second(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);
/* The i-th of the files that are prepared behind the sample's own: the second file of a pair, or
 * a frame of a group. SAMPLE_NONE: there is none. */
sample_id dataset_behind(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id, uint32_t i);
/* How they are prepared. A second file of another size than the first one becomes as large as the
 * first one is resized to. */
struct preparation dataset_preparation_behind(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);
/* true: the sample is the second file of another one, or a later frame. */
bool dataset_is_second(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id);

#define PAIR_MESSAGE 160
/* true: the sample can't be prepared, as the message says, which may be NULL: its second file is
 * missing, can't be read, or has another shape. */
bool dataset_pair_fails(const struct dataset *dataset,
	const struct preparation *preparation, sample_id id, char *message);
