// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"
#include "config/config.h"
#include "dataset/dataset.h"
#include "group/group.h"

struct sched;

/*
 * The parts that the tree is made of: main fills this in, fuse and control show it.
 *
 *   Owns: nothing; everything in it outlives fuse and control.
 */
struct files_context {
	const struct daemon_config *config;
	struct sched *sched;
	struct group *group;
	struct backings *backings; /* sched's, or NULL */
	struct made_texts *texts;  /* made_text.h */
	const char *mountpoint;	   /* absolute */
	int device; /* /dev/fuse, which somebody else has mounted there; 0: nobody has */
};
