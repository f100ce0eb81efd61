// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "config/config.h"
#include "dataset/dataset.h"
#include "group/group.h"

struct sched;

/*
 * The parts of the daemon that fuse and control need to make the tree of files. main fills in the
 * struct; all parts outlive fuse and control.
 *
 * Words of this folder:
 *
 *   head    the bytes of a file before the tensor's bytes
 *   known   a size that readers can be told before the position has a sample
 */
struct files_context {
	const struct daemon_config *config;
	struct sched *sched;
	struct group *group;
	/* files in memory that the kernel reads itself (passthrough), or NULL */
	struct backings *backings;
	struct made_texts *texts; /* shared by readers (made_text.h) */
	const char *mountpoint;	  /* absolute path */
	int device; /* inherited descriptor of /dev/fuse; 0: the daemon mounts the tree */
};
