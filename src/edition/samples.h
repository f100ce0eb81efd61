// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "dataset/dataset.h"

/* The samples of an epoch, as callers of the scheduler see them. After a new scan of a dataset
 * that jobs use, epochs that begin later get another edition; earlier epochs keep theirs. */
struct sched_edition {
	struct dataset *dataset;
	uint32_t samples;		   /* positions in an epoch */
	const roaring_bitmap_t *selection; /* D_j, the samples of the job */
	/* D_j except the samples that are refused: they need too much memory or have no readable
	 * header. */
	const roaring_bitmap_t *readable;
	/*
	 * layout = classes: the positions of label l are [label_begin[l], label_begin[l + 1]),
	 * and a position is only ever bound to a sample of its label. Other layouts: NULL.
	 */
	const uint32_t *label_begin;
	/* layout = classes: changes with the names of the positions in directories; 0
	 * unless the dataset was scanned again. A number may be reused some scans
	 * later. */
	uint32_t names;
	/* The most bytes of each kind of file beside a sample, by the number of the kind:
	 * files/beside.h. */
	uint64_t beside_bytes[CONFIG_MOST_ENDINGS + 1];
	bool beside_waits; /* the files beside samples are on a server */
	/* for labels = columns: the numbers of sample i begin at [i * n_targets]; otherwise NULL */
	const float *targets;
};
