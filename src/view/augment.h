// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "base/tensor.h"
#include "config/config.h"
#include "load/resample.h"

/*
 * [augment], dtype and axes: what one job gets of a tensor that it shares with others.
 *
 *   Flow: augment_plan decides, by chance; augment_apply computes; augment_sample is the
 *         one after the other, when a position is opened.
 *   Owns: nothing.   Threads: any; no state.   Errors: -ENOMEM.
 */

/* What all positions of all epochs depend on. */
uint64_t augment_seed(const struct job_config *job, uint64_t daemon_seed);

/* The size of an image after augmentation, and whether it is the same for all images. */
struct tensor_shape augment_output(
	const struct augment_config *config, struct tensor_shape image);
bool augment_fixed_size(const struct augment_config *config);

/*
 * rows, columns: which part of the tensor, and how much black is before it.
 * torchvision's order: crop, resize to `size`, mirror.
 */
struct augment_plan {
	struct crop_axis rows;
	struct crop_axis columns;
	struct tensor_shape size;
	bool resize;
	bool mirror;
};

/*
 * The same arguments give the same plan. random_crop: every place is as likely as any
 * other. random_resized_crop: RandomResizedCrop.get_params of torchvision, scale (0.08,
 * 1), ratio (3/4, 4/3).
 */
struct augment_plan augment_plan(const struct augment_config *config, uint64_t seed,
	uint32_t epoch, uint32_t position, struct tensor_shape image);

/*
 * A tensor of the job's pixel type: rows of plan->size, without padding, (height, width,
 * 3) or (3, height, width). Caller frees. *ret = NULL: it would be the given one.
 */
must_check int augment_apply(const struct job_config *job,
	const struct augment_plan *plan, const struct tensor *tensor,
	struct tensor **ret);

must_check int augment_sample(const struct job_config *job, uint64_t daemon_seed,
	uint32_t epoch, uint32_t position, const struct tensor *tensor,
	struct tensor **ret);
