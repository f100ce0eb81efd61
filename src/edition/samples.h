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
	/* the selection without samples that are unreadable or need too much memory */
	const roaring_bitmap_t *readable;
	/* The positions of label l are [label_begin[l], label_begin[l + 1]), and have
	 * only samples of this label. NULL: the layout is not classes. */
	const uint32_t *label_begin;
	/* Version of the files' names in layout = classes. A new scan may give a name
	 * to another position, so requests for files of an older version are refused.
	 * The first version is 0, the next ones are 1, 2, 3, 1, 2 and so on. Other
	 * layouts always have 0. */
	uint32_t names;
	/* bytes of the largest file that belongs to a sample, such as a caption, for
	 * each kind of such files (files/beside.h) */
	uint64_t beside_bytes[CONFIG_MOST_ENDINGS + 1];
	/* these files are on a server, so readers may have to wait for them */
	bool beside_waits;
	/* Numbers in the columns that `labels` names: the numbers of sample i begin at
	 * targets[i * n_targets]. NULL: `labels` names no columns. */
	const float *targets;
};
