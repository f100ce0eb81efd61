// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "config/config.h"
#include "dataset/dataset.h"

/* The samples of an epoch. After a new scan, epochs that begin later get another edition. */
struct sched_edition {
	struct dataset *dataset;
	uint32_t samples;		   /* positions in an epoch */
	const roaring_bitmap_t *selection; /* ids of the job's samples */
	/* the selection without samples that are unreadable or need too much memory */
	const roaring_bitmap_t *readable;
	/* label l has the positions [label_begin[l], label_begin[l + 1]); NULL: the layout is not
	 * classes */
	const uint32_t *label_begin;
	/* Version of the files' names in layout = classes. The dataset's first scan has version 0,
	 * later scans have 1, 2, 3, 1, 2, 3 and so on, since an inode number has two bits for the
	 * version. A new scan may give a name to another position, so requests for files of an
	 * older version are refused. In other layouts always 0. */
	uint32_t names;
	/* bytes of the largest file beside a sample: for each ending of the key `beside`, then for
	 * the text of the key `text` */
	uint64_t beside_bytes[CONFIG_MOST_ENDINGS + 1];
	bool beside_waits; /* these files are on a server, so readers may have to wait */
	/* The numbers in the columns that the key `labels` lists, or NULL. The numbers of sample i
	 * begin at targets[i * n_targets]. */
	const float *targets;
};
