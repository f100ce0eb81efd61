// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "dataset/dataset.h"

/* The samples of an epoch, for callers of the scheduler. After a new scan of a dataset that jobs
 * use, epochs that begin later get another edition; earlier epochs keep their editions. */
struct sched_edition {
	struct dataset *dataset;
	uint32_t samples;		   /* number of positions in an epoch */
	const roaring_bitmap_t *selection; /* ids of the job's samples */
	/* The selection without samples that are refused, because they need too much memory or have
	 * no readable header. */
	const roaring_bitmap_t *readable;
	/*
	 * layout = classes: the positions of label l are [label_begin[l], label_begin[l + 1]),
	 * and a position is only ever bound to a sample of its label. Other layouts: NULL.
	 */
	const uint32_t *label_begin;
	/* Identifies the names that positions have in the directories of layout = classes. Each new
	 * scan of the dataset sets the next of the numbers 1, 2, 3, then 1 again. 0: the dataset
	 * was never scanned again, or the layout is another one. */
	uint32_t names;
	/* The largest number of bytes of a file beside a sample, for each kind of such files
	 * (files/beside.h). */
	uint64_t beside_bytes[CONFIG_MOST_ENDINGS + 1];
	/* the files beside samples are on a server, so a reader may have to wait for them */
	bool beside_waits;
	/* The numbers in the columns that `labels` names: those of sample i begin at [i *
	 * n_targets]. NULL if `labels` names no columns. */
	const float *targets;
};
