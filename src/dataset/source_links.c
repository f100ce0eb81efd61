// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/source_links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Returns the entry with this hash, or the free entry where it belongs (open addressing). */
static struct link_target *find(
	const struct link_targets *targets, uint64_t hash, bool *ret_there)
{
	size_t i = hash & (targets->room - 1);
	while (targets->of[i].hash && targets->of[i].hash != hash)
		i = (i + 1) & (targets->room - 1);
	*ret_there = targets->of[i].hash == hash;
	return &targets->of[i];
}

static uint64_t hash_of(const char *path)
{
	/* The hash is odd, since 0 marks a free entry. */
	return text_hash(path, strlen(path)) | 1;
}

static int grow(struct link_targets *targets)
{
	struct link_targets grown = {.n = targets->n};
	bool there;
	grown.room = targets->room ? targets->room * 2 : 1024;
	grown.of = calloc(grown.room, sizeof(*grown.of));
	if (!grown.of)
		return -ENOMEM;
	for (size_t i = 0; i < targets->room; i++)
		if (targets->of[i].hash)
			*find(&grown, targets->of[i].hash, &there) = targets->of[i];
	free(targets->of);
	*targets = grown;
	return 0;
}

int link_targets_add(
	struct link_targets *targets, const char *path, uint64_t offset, uint64_t bytes)
{
	uint64_t hash = hash_of(path);
	bool there;
	if (targets->n >= targets->room / 2 && grow(targets) != 0)
		return -ENOMEM;
	struct link_target *target = find(targets, hash, &there);
	targets->n += !there;
	*target = (struct link_target){hash, offset, bytes};
	return 0;
}

const struct link_target *link_targets_find(
	const struct link_targets *targets, const char *path)
{
	bool there = false;
	const struct link_target *target =
		targets->n ? find(targets, hash_of(path), &there) : NULL;
	return there ? target : NULL;
}
