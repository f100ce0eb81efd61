// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/source.h"

#include "base/byte_order.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Lists LMDB files: keys are paths, <class>/<name>, and values are encoded images. A value is
 * contiguous in the file, so it is read like a member of a tar.
 *
 * liblmdb is not used: a wrong page number, or a file that becomes shorter, would kill the process;
 * and liblmdb writes a lock file. A reader needs only these parts of the format (version 1, of LMDB
 * 0.9, in this machine's byte order and word size):
 *
 *   pages 0 and 1: meta pages with the page size; the newer one gives the root of the database
 *   branch: offsets of nodes; a node is a key and the number of a page
 *   leaf:   offsets of nodes; a node is a key and its value, or the number of the
 *           first page that has the value (overflow)
 */

#define PAGE_HEADER 16
#define NODE_HEADER 8
#define META_BYTES 136
#define META_MAGIC 0xbeefc0deu
#define META_VERSION 1
#define MOST_DEPTH 32
#define MOST_KEY 4096

enum { PAGE_BRANCH = 1, PAGE_LEAF = 2, PAGE_OVERFLOW = 4, PAGE_META = 8 };
enum { NODE_FAR = 1, NODE_DATABASE = 2, NODE_DUPLICATES = 4 };

#define DATABASE_DUPLICATES 4
#define NO_PAGE UINT64_MAX

struct lmdb {
	struct container_scan *container;
	uint32_t page_bytes;
	uint64_t pages; /* number of pages in the file */
	uint64_t root;
	uint64_t entries; /* number of keys according to the meta page */
	uint64_t found;
	unsigned depth;
	uint64_t seen; /* visited pages; more than `pages`: the tree has a cycle */
	uint8_t *levels[MOST_DEPTH]; /* current page of each level */
};

static uint64_t offset_of(const struct lmdb *lmdb, uint64_t page)
{
	return page * lmdb->page_bytes;
}

static int refuse_page(struct lmdb *lmdb, uint64_t page, const char *text)
{
	return container_refuse(lmdb->container, offset_of(lmdb, page),
		"page %" PRIu64 ": %s", page, text);
}

static bool is_meta(const uint8_t *page)
{
	return get_le16(page + 10) & PAGE_META &&
	       get_le32(page + PAGE_HEADER) == META_MAGIC &&
	       get_le32(page + PAGE_HEADER + 4) == META_VERSION;
}

/* A meta page first describes the database of free pages, in 48 bytes, then the main database. */
static void take_meta(struct lmdb *lmdb, const uint8_t *page)
{
	const uint8_t *database = page + PAGE_HEADER + 24 + 48;
	lmdb->depth = get_le16(database + 6);
	lmdb->entries = get_le64(database + 32);
	lmdb->root = get_le64(database + 40);
}

static int read_meta(struct lmdb *lmdb)
{
	uint8_t first[PAGE_HEADER + META_BYTES], second[PAGE_HEADER + META_BYTES];
	struct container_scan *container = lmdb->container;
	int err = container_read(container, 0, first, sizeof(first));
	if (err)
		return err;
	if (!is_meta(first))
		return container_refuse(container, 0,
			"is not an LMDB file of version %d and of this machine's kind",
			META_VERSION);
	uint32_t bytes = get_le32(first + PAGE_HEADER + 24);
	if (bytes < 256 || bytes > 65536 || (bytes & (bytes - 1)) != 0)
		return container_refuse(
			container, 0, "pages of %" PRIu32 " bytes are impossible", bytes);
	lmdb->page_bytes = bytes;
	lmdb->pages = container->file->bytes / bytes;
	err = container_read(container, bytes, second, sizeof(second));
	if (err)
		return err;
	bool newer =
		is_meta(second) && get_le64(second + PAGE_HEADER + 24 + 96 + 8) >
					   get_le64(first + PAGE_HEADER + 24 + 96 + 8);
	const uint8_t *meta = newer ? second : first;
	if (get_le16(meta + PAGE_HEADER + 24 + 48 + 4) & DATABASE_DUPLICATES)
		return container_refuse(
			container, 0, "keys with several values are not supported");
	take_meta(lmdb, meta);
	return 0;
}

static int read_page(struct lmdb *lmdb, uint64_t number, unsigned level)
{
	if (number < 2 || number >= lmdb->pages)
		return container_refuse(lmdb->container, 0,
			"page %" PRIu64 " is referred to, but there are only %" PRIu64,
			number, lmdb->pages);
	if (++lmdb->seen > lmdb->pages)
		return refuse_page(lmdb, number, "pages refer to each other in a circle");
	if (!lmdb->levels[level] && !(lmdb->levels[level] = malloc(lmdb->page_bytes)))
		return -ENOMEM;
	uint8_t *page = lmdb->levels[level];
	int err = container_read(
		lmdb->container, offset_of(lmdb, number), page, lmdb->page_bytes);
	if (err)
		return err;
	unsigned lower = get_le16(page + 12), upper = get_le16(page + 14);
	unsigned kind = get_le16(page + 10) &
			(PAGE_BRANCH | PAGE_LEAF | PAGE_OVERFLOW | PAGE_META);
	if (kind != (level + 1 == lmdb->depth ? PAGE_LEAF : PAGE_BRANCH))
		return refuse_page(lmdb, number, "is not of the expected kind");
	if (get_le64(page) != number || lower < PAGE_HEADER || lower > lmdb->page_bytes ||
		upper > lmdb->page_bytes || lower % 2 != 0)
		return refuse_page(lmdb, number, "is damaged");
	return 0;
}

/* Returns NULL if node i of the level's page lies outside the page. */
static const uint8_t *find_node(const struct lmdb *lmdb, unsigned level, unsigned i)
{
	const uint8_t *page = lmdb->levels[level];
	unsigned at = get_le16(page + PAGE_HEADER + 2 * (size_t)i);
	if (at < PAGE_HEADER || at > lmdb->page_bytes - NODE_HEADER ||
		get_le16(page + at + 6) > lmdb->page_bytes - NODE_HEADER - at)
		return NULL;
	return page + at;
}

/* Finds the offset of a value that has its own (overflow) pages. */
static int find_far(
	struct lmdb *lmdb, uint64_t page, uint64_t bytes, uint64_t *ret_offset)
{
	uint8_t header[PAGE_HEADER];
	if (page < 2 || page >= lmdb->pages)
		return refuse_page(
			lmdb, page, "should have a value, but is not in the file");
	int err = container_read(
		lmdb->container, offset_of(lmdb, page), header, sizeof(header));
	if (err)
		return err;
	if (!(get_le16(header + 10) & PAGE_OVERFLOW) || get_le64(header) != page)
		return refuse_page(lmdb, page, "is not a value's page");
	uint64_t pages = get_le32(header + 12);
	if (pages > lmdb->pages - page || pages * lmdb->page_bytes < bytes + PAGE_HEADER)
		return refuse_page(lmdb, page, "its value ends beyond its pages");
	*ret_offset = offset_of(lmdb, page) + PAGE_HEADER;
	return 0;
}

static int take_value(struct lmdb *lmdb, uint64_t number, const uint8_t *page,
	const uint8_t *node, const char *path)
{
	unsigned flags = get_le16(node + 4), key_bytes = get_le16(node + 6);
	struct source_part part = {.stored_bytes = get_le32(node)};
	size_t at = (size_t)(node - page) + NODE_HEADER + key_bytes;
	size_t here = flags & NODE_FAR ? 8 : (size_t)part.stored_bytes;
	if (flags & (NODE_DATABASE | NODE_DUPLICATES))
		return refuse_page(lmdb, number,
			"a database in the database, or several values of a key: not "
			"supported");
	if (here > lmdb->page_bytes - at)
		return refuse_page(lmdb, number, "a value ends beyond its page");
	part.offset = offset_of(lmdb, number) + at;
	int err = 0;
	if (flags & NODE_FAR)
		err = find_far(
			lmdb, get_le64(page + at), part.stored_bytes, &part.offset);
	return err ? err
		   : container_member(lmdb->container, path, &part, part.stored_bytes);
}

static int take_leaf(struct lmdb *lmdb, uint64_t number, unsigned level, unsigned i)
{
	char key[MOST_KEY + 1], path[PATH_MAX];
	const uint8_t *node = find_node(lmdb, level, i);
	if (!node)
		return refuse_page(lmdb, number, "a key does not lie in it");
	lmdb->found++;
	unsigned bytes = get_le16(node + 6);
	if (bytes > MOST_KEY || memchr(node + NODE_HEADER, '\0', bytes))
		/* a key with a zero byte is no path */
		return 0;
	memcpy(key, node + NODE_HEADER, bytes);
	key[bytes] = '\0';
	int err =
		container_clean_name(lmdb->container, offset_of(lmdb, number), key, path);
	if (err)
		return err < 0 ? err : 0;
	return take_value(lmdb, number, lmdb->levels[level], node, path);
}

struct place {
	uint64_t page;
	unsigned next, n; /* next: index of the next node to visit. n: number of nodes */
};

static int enter(struct lmdb *lmdb, uint64_t page, unsigned level, struct place *ret)
{
	int err = read_page(lmdb, page, level);
	if (err)
		return err;
	unsigned lower = get_le16(lmdb->levels[level] + 12);
	*ret = (struct place){.page = page, .n = (lower - PAGE_HEADER) / 2};
	return 0;
}

static int walk(struct lmdb *lmdb)
{
	struct place places[MOST_DEPTH];
	unsigned level = 0;
	int err = enter(lmdb, lmdb->root, 0, &places[0]);
	while (!err) {
		struct place *place = &places[level];
		if (place->next == place->n) {
			if (level-- == 0)
				break;
			continue;
		}
		unsigned i = place->next++;
		if (level + 1 == lmdb->depth) {
			err = take_leaf(lmdb, place->page, level, i);
			continue;
		}
		const uint8_t *node = find_node(lmdb, level, i);
		if (!node)
			return refuse_page(lmdb, place->page, "a key does not lie in it");
		uint64_t page = get_le32(node) | (uint64_t)get_le16(node + 4) << 32;
		level++;
		err = enter(lmdb, page, level, &places[level]);
	}
	return err;
}

static int index_lmdb(struct container_scan *container)
{
	struct lmdb lmdb = {.container = container};
	int err = read_meta(&lmdb);
	if (!err && lmdb.root != NO_PAGE && (lmdb.depth == 0 || lmdb.depth > MOST_DEPTH))
		err = container_refuse(
			container, 0, "a tree of %u levels is impossible", lmdb.depth);
	if (!err && lmdb.root != NO_PAGE)
		err = walk(&lmdb);
	if (!err && lmdb.found != lmdb.entries)
		err = container_refuse(container, 0,
			"it should have %" PRIu64 " keys, but has %" PRIu64, lmdb.entries,
			lmdb.found);
	for (unsigned i = 0; i < MOST_DEPTH; i++)
		free(lmdb.levels[i]);
	return err ? err : container_end(container);
}

/* Finds the LMDB file: the root, or data.mdb in it if the root is a directory. */
static int find(struct scan *scan)
{
	struct stat st;
	if (stat(scan->root, &st) == 0 && S_ISDIR(st.st_mode))
		return containers_add_file(scan, "data.mdb");
	return containers_find_file(scan);
}

const struct source source_lmdb = {
	.name = "lmdb",
	.expected = "expected an LMDB file whose keys are <class>/<name>",
	.find = find,
	.list = containers_list,
	.index = index_lmdb,
	.any_name = true,
};
