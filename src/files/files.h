// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "config/config.h"
#include "dataset/dataset.h"
#include "sched/sched.h"

/* What fuse and control show. Borrowed; outlives both. */
struct files_context {
	const struct daemon_config *config;
	struct dataset **datasets;
	size_t n_datasets;
	struct sched *sched;
	struct backings *backings; /* sched's, or NULL */
	const char *mountpoint;	   /* absolute */
};
