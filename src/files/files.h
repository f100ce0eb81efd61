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
 * struct.
 *
 * Words of this folder:
 *
 *   composite   a file that holds several positions: a tar, a batch, the labels of a batch
 *   pair        a sample of two files, such as an image and its mask (`from` in [tensor NAME])
 *   beside      files and texts that come with a sample: a caption, for instance
 *   head        the bytes of a file before the tensor's bytes
 *   known       a size that readers can be told before the position is bound
 *
 *   Owns: nothing; all parts outlive fuse and control.
 */
struct files_context {
	const struct daemon_config *config;
	struct sched *sched;
	struct group *group;
	/* files in memory that the kernel reads itself (passthrough), or NULL */
	struct backings *backings;
	struct made_texts *texts; /* texts that readers share (made_text.h) */
	const char *mountpoint;	  /* absolute path */
	/* Descriptor of a mounted /dev/fuse that the daemon inherited at its start; 0: the daemon
	 * mounts the tree itself. */
	int device;
};
