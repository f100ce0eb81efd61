// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "image/pixel_type.h"
#include "image/pixels.h"
#include "image/resample.h"
#include "image/tensor.h"

/* Makes one job's own sample from a shared tensor, as [augment], dtype and axes say: augment_plan
 * draws the random decisions, augment_apply carries them out. Threads: any; no state. */

/* The steps of [augment], in the order of their execution. At most one of random_crop and
 * random_resized_crop is set; an unset size is 0x0. */
struct augment_config {
	struct tensor_shape random_crop;
	struct tensor_shape random_resized_crop;
	enum resample_filter filter; /* filter of random_resized_crop */
	double hflip;		     /* probability with which a sample is mirrored */
	struct normalize_config normalize;
	uint64_t seed; /* 0: derived from the daemon's seed and the job's name */
};

uint64_t augment_seed(
	const struct augment_config *config, const char *job, uint64_t daemon_seed);

struct tensor_shape augment_output(
	const struct augment_config *config, struct tensor_shape image);
/* Tells whether all images have the same size after augmentation. */
bool augment_fixed_size(const struct augment_config *config);

/* The sample is first cropped to `rows` and `columns`, then resized to `size`, then mirrored, as in
 * torchvision. The crop begins with rows.pad black rows and columns.pad black columns. */
struct augment_plan {
	struct crop_axis rows;
	struct crop_axis columns;
	struct tensor_shape size;
	enum resample_filter filter;
	bool resize;
	bool mirror;
};

/* Draws the random decisions for a sample. Equal arguments give equal plans. All offsets of a
 * random_crop are equally probable. The decisions of a random_resized_crop have the probabilities
 * of torchvision's RandomResizedCrop.get_params with its defaults. */
struct augment_plan augment_plan(const struct augment_config *config, uint64_t seed,
	uint32_t epoch, uint32_t position, struct tensor_shape image);

/* Makes *ret, a tensor of plan->size with numbers of `type`. All frames of a video are changed by
 * the same decisions. If the new tensor would equal `tensor`, sets *ret to NULL; otherwise the
 * caller frees *ret. Returns 0 or -ENOMEM. */
must_check int augment_apply(const struct normalize_config *normalize,
	struct pixel_type type, const struct augment_plan *plan,
	const struct tensor *tensor, struct tensor **ret);
