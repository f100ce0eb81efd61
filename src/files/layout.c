// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/layout.h"

static const struct layout *const layouts[] = {
	[LAYOUT_FLAT] = &layout_flat,
	[LAYOUT_CLASSES] = &layout_classes,
	[LAYOUT_MIRROR] = &layout_mirror,
	[LAYOUT_TAR] = &layout_tar,
	[LAYOUT_BATCH] = &layout_batch,
};

const struct layout *layout_of(const struct sched_job *job)
{
	return layouts[sched_job_config(job)->layout];
}
