// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "files/layout.h"
#include "files/layout_tar.h"
#include "sched/jobs.h"
#include "sched/positions.h"

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

bool layout_skips(
	struct sched_job *job, struct inode directory, uint32_t position, uint32_t n)
{
	return sched_skips(job) &&
	       sched_skipped(job, inode_sched_epoch(directory), position, n) == n;
}

uint32_t layout_files(struct sched_job *job, const struct sched_edition *edition)
{
	const struct job_config *config = sched_job_config(job);
	return composite_files(
		edition->samples, config_file_samples(config), config->drop_last);
}

uint32_t layout_no_subdirectories(struct sched_job *job, struct inode directory)
{
	(void)job;
	(void)directory;
	return 0;
}
