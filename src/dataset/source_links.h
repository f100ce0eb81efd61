// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "dataset/dataset_internal.h"

/*
 * Finds the members of a tar by their paths. A hard link in a tar has no data, but only the path of
 * an earlier member.
 *
 *   Flow: link_targets_add for each member, link_targets_find for each link, free(targets.of).
 *   Owns: a hash table with 2 to 4 entries of 24 bytes per member.
 *   Threads: one.
 */

struct link_target {
	uint64_t hash;
	uint64_t offset, bytes; /* place of the member's data */
};

struct link_targets {
	struct link_target *of;
	size_t n, room;
};

/* Adds a member. If a path occurs several times, the last member counts. -ENOMEM */
must_check int link_targets_add(
	struct link_targets *targets, const char *path, uint64_t offset, uint64_t bytes);
/* Returns NULL if there is no such member. */
const struct link_target *link_targets_find(
	const struct link_targets *targets, const char *path);
