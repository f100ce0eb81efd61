// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "config/config.h"
#include "dataset/dataset.h"
#include "group/group.h"

struct sched;

/*
 * The parts of the daemon that fuse and control need to make the tree of files. main
 * fills in the struct.
 *
 * Words of this folder:
 *
 *   composite   a file that holds several positions (composite.h)
 *   pair        a sample of two files, such as an image and its mask ([tensor NAME])
 *   beside      files and texts that come with a sample (beside.h)
 *   head        the bytes of a file before the tensor's bytes
 *   known       a size that readers can be told before the position has a sample
 *
 *   Owns: nothing; all parts outlive fuse and control.
 */
struct files_context {
	const struct daemon_config *config;
	struct sched *sched;
	struct group *group;
	/* files in memory that the kernel reads itself (passthrough), or NULL */
	struct backings *backings;
	struct made_texts *texts; /* shared by readers (made_text.h) */
	const char *mountpoint;	  /* absolute path */
	/* descriptor of an inherited /dev/fuse; 0: the daemon mounts the tree */
	int device;
};
