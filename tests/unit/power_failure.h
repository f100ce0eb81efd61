// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/rng.h"
#include "disk_recorder.h"

#include <ftw.h>

/*
 * The contents that a disk may have if the power fails after one of the recorded events:
 *
 *   content all that was synced; of later writes and truncations any, whole or in part: a
 *             beginning, some sectors, or zeros instead of bytes
 *   names DISK_ORDERED, as with a file system that has a journal: all calls up to some
 *             call after the last sync of any directory.
 *             DISK_UNORDERED: of the calls after the last sync of their directory, any
 *
 * In neither order does the sync of a file also keep its name.
 */

enum disk_order { DISK_ORDERED, DISK_UNORDERED, DISK_ORDERS };

struct disk_image {
	struct disk_node *nodes;
	uint32_t n_nodes;
	struct disk_entry *entries;
	size_t n_entries;
};

/* --- content ------------------------------------------------------------------------- */

static inline void image_resize(struct disk_node *node, size_t size)
{
	node->bytes = realloc(node->bytes, size + 1);
	cr_assert_not_null(node->bytes);
	if (size > node->size)
		memset(node->bytes + node->size, 0, size - node->size);
	node->size = size;
}

#define SECTOR 512

/* Applies a write, whole or changed by the failure. */
static inline void image_write(struct disk_node *node, const struct disk_event *event,
	bool whole, struct rng *rng)
{
	size_t end = event->offset + event->n, n = event->n;
	uint64_t fate = whole ? 0 : rng_below(rng, 5);
	if (fate == 4) /* the write is lost */
		return;
	if (fate == 1)
		n = rng_below(rng, event->n + 1);
	if (node->size < event->offset + (fate == 1 ? n : event->n))
		image_resize(node, fate == 1 ? event->offset + n : end);
	if (fate == 3) /* zeros instead of the bytes */
		return;
	for (size_t i = 0, some; i < n; i += some) {
		some = SECTOR - (event->offset + i) % SECTOR;
		some = some < n - i ? some : n - i;
		if (fate != 2 || rng_below(rng, 2))
			memcpy(node->bytes + event->offset + i, event->bytes + i, some);
	}
}

static inline size_t image_last_sync(uint32_t node, size_t end)
{
	while (end > 0 && (disk.events[end - 1].kind != DISK_SYNC ||
				  disk.events[end - 1].node != node))
		end--;
	return end;
}

static inline void image_content(
	struct disk_image *image, uint32_t number, size_t end, struct rng *rng)
{
	struct disk_node *node = &image->nodes[number];
	size_t synced = image_last_sync(number, end);
	bool all = rng_below(rng, 3) == 0, none = !all && rng_below(rng, 3) == 0;
	for (size_t i = 0; i < end; i++) {
		const struct disk_event *event = &disk.events[i];
		bool whole = i < synced || all || (!none && rng_below(rng, 2));
		if (event->node != number || (none && i >= synced))
			continue;
		if (event->kind == DISK_WRITE)
			image_write(node, event, whole, rng);
		else if (event->kind == DISK_TRUNCATE && whole)
			image_resize(node, event->offset);
	}
}

/* --- names --------------------------------------------------------------------------- */

static inline void image_set_entry(
	struct disk_image *image, const struct disk_entry *entry)
{
	size_t i = 0;
	while (i < image->n_entries &&
		(image->entries[i].directory != entry->directory ||
			strcmp(image->entries[i].name, entry->name) != 0))
		i++;
	image->entries[i] = *entry;
	image->n_entries += i == image->n_entries;
}

/* Tells whether a later sync has brought the names to the disk. */
static inline bool image_is_synced(const struct disk_event *names,
	const struct disk_event *end, enum disk_order order)
{
	for (const struct disk_event *event = names + 1; event < end; event++) {
		if (event->kind != DISK_SYNC_DIRECTORY)
			continue;
		if (order == DISK_ORDERED)
			return true;
		for (unsigned i = 0; i < names->n_entries; i++)
			if (names->entries[i].directory == event->node)
				return true;
	}
	return false;
}

static inline void image_names(
	struct disk_image *image, size_t end, enum disk_order order, struct rng *rng)
{
	bool cut_off = false;
	bool some = rng_below(rng, 3) > 0;
	for (size_t i = 0; i < end; i++) {
		const struct disk_event *event = &disk.events[i];
		if (event->kind != DISK_ENTRIES)
			continue;
		bool lost = !image_is_synced(event, disk.events + end, order) && some &&
			    rng_below(rng, 3) == 0;
		cut_off |= lost && order == DISK_ORDERED;
		for (unsigned k = 0; k < event->n_entries && !lost && !cut_off; k++)
			image_set_entry(image, &event->entries[k]);
	}
}

/* --- the disk ------------------------------------------------------------------------ */

/* Makes the contents of the disk after the first `end` events. */
static inline void image_make(
	struct disk_image *image, size_t end, enum disk_order order, struct rng *rng)
{
	*image = (struct disk_image){.n_nodes = disk.n_nodes};
	image->nodes = calloc(disk.n_nodes, sizeof(*image->nodes));
	image->entries = calloc(disk.n_entries + 2 * end + 1, sizeof(*image->entries));
	cr_assert(image->nodes && image->entries);
	for (size_t i = 0; i < disk.n_entries; i++)
		image->entries[image->n_entries++] = disk.entries[i];
	for (uint32_t i = 1; i < disk.n_nodes; i++) {
		struct disk_node *node = &image->nodes[i];
		node->directory = disk.nodes[i].directory;
		image_resize(node, disk.nodes[i].size);
		if (node->size)
			memcpy(node->bytes, disk.nodes[i].bytes, node->size);
		image_content(image, i, end, rng);
	}
	image_names(image, end, order, rng);
}

static inline void image_write_tree(
	const struct disk_image *image, uint32_t parent, const char *path)
{
	char below[4096];
	for (size_t i = 0; i < image->n_entries; i++) {
		const struct disk_entry *entry = &image->entries[i];
		if (entry->directory != parent || entry->node == 0)
			continue;
		const struct disk_node *node = &image->nodes[entry->node];
		snprintf(below, sizeof(below), "%s/%s", path, entry->name);
		if (node->directory) {
			cr_assert_eq(0, __real_mkdir(below, 0755));
			image_write_tree(image, entry->node, below);
			continue;
		}
		int fd = __real_open(below, O_WRONLY | O_CREAT | O_EXCL, 0644);
		cr_assert(fd >= 0, "%s: %s", below, strerror(errno));
		cr_assert_eq((ssize_t)node->size,
			__real_pwrite(fd, node->bytes, node->size, 0));
		close(fd);
	}
}

static inline void image_free(struct disk_image *image)
{
	for (uint32_t i = 0; i < image->n_nodes; i++)
		free(image->nodes[i].bytes);
	free(image->nodes);
	free(image->entries);
}

/* Returns what was promised at the time of the failure, and the most that may have been done. */
static inline void image_promise(size_t end, size_t *ret_promised, size_t *ret_done)
{
	*ret_promised = *ret_done = 0;
	for (size_t i = 0; i < end; i++)
		if (disk.events[i].kind == DISK_MARK) {
			*ret_promised = disk.events[i].promised;
			*ret_done = disk.events[i].done;
		}
}

static inline int disk_remove_one(
	const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)where;
	return kind == FTW_DP ? rmdir(path) : unlink(path);
}

/* Makes an empty directory in the place of any former one. */
static inline void disk_clear(const char *path)
{
	(void)nftw(path, disk_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	cr_assert_eq(0, __real_mkdir(path, 0755));
}

/* The power fails after the first `end` events. The directory then has the contents of the disk. */
static inline void power_fails(
	size_t end, enum disk_order order, struct rng *rng, const char *path)
{
	struct disk_image image;
	disk_clear(path);
	image_make(&image, end, order, rng);
	image_write_tree(&image, 1, path);
	image_free(&image);
}
