// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "dataset/dataset.h"

/* The samples of an epoch. After a new scan of a dataset, epochs that begin later get
 * another edition; earlier epochs keep theirs. */
struct sched_edition {
	struct dataset *dataset;
	uint32_t samples;		   /* positions in an epoch */
	const roaring_bitmap_t *selection; /* ids of the job's samples */
	/* selection without unreadable samples, and ones that need too much memory */
	const roaring_bitmap_t *readable;
	/* The positions of label l are [label_begin[l], label_begin[l + 1]), and have
	 * only samples of this label. NULL: the layout is not classes. */
	const uint32_t *label_begin;
	/* Tells names of positions apart, for layout = classes: each new scan of the
	 * dataset sets the next of 1, 2, 3, 1... 0: no new scan, or another layout. */
	uint32_t names;
	/* the largest file beside a sample, of each kind (files/beside.h) */
	uint64_t beside_bytes[CONFIG_MOST_ENDINGS + 1];
	/* readers may have to wait for files beside samples, which are on a server */
	bool beside_waits;
	/* Numbers in the columns that `labels` names: those of sample i begin at [i *
	 * n_targets]. NULL: `labels` names no columns. */
	const float *targets;
};
