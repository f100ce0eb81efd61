// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/log.h"
#include "dataset/dataset_internal.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

/*
 * What state directories keep to know samples again, and what users divide datasets by.
 * Another way to compute it makes all samples strangers, and puts them in other folds.
 */

__extension__ typedef unsigned __int128 uint128;

/* wyhash's (Wang Yi, public domain): the halves of a product, each bit of which depends on
 * many of the factors'. */
static uint64_t fold(uint64_t hash, uint64_t word)
{
	uint128 product = (uint128)(hash ^ UINT64_C(0xa0761d6478bd642f)) *
			  (word ^ UINT64_C(0xe7037ed1a0b428db));
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* splitmix64's finalizer: no two numbers become the same one. */
static uint64_t scatter(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Eight bytes at a time; the last ones are filled up with zeros. */
static uint64_t fold_text(uint64_t hash, const char *text, size_t length)
{
	uint64_t word;
	for (; length >= sizeof(word); length -= sizeof(word), text += sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = fold(hash, le64toh(word));
	}
	word = 0;
	memcpy(&word, text, length);
	return fold(hash, le64toh(word));
}

uint64_t text_hash(const char *text, size_t length)
{
	return scatter(fold_text(length, text, length));
}

uint32_t sample_identity(const char *path, uint64_t bytes, int64_t mtime_ns)
{
	size_t length = strlen(path);
	uint64_t hash = fold_text(length, path, length);
	hash = scatter(hash ^ scatter(bytes));
	return (uint32_t)(scatter(hash ^ scatter((uint64_t)mtime_ns)) >> 32);
}

uint32_t part_identity(uint32_t identity, const struct source_part *part)
{
	uint64_t hash = scatter(identity ^ scatter(part->container_bytes));
	hash = scatter(hash ^ scatter(part->offset));
	return (uint32_t)(scatter(hash ^ scatter(part->stored_bytes)) >> 32);
}

#define AT_ONCE 256

/* A sum of independent numbers, so that the processor makes several at once. */
uint64_t dataset_fingerprint(
	const struct dataset *dataset, const roaring_bitmap_t *selection)
{
	roaring_uint32_iterator_t iterator;
	uint32_t ids[AT_ONCE], n;
	uint64_t sum = 0;
	roaring_init_iterator(selection, &iterator);
	while ((n = roaring_read_uint32_iterator(&iterator, ids, AT_ONCE)) > 0) {
		ensure(ids[n - 1] < dataset->n_ids); /* they ascend */
		for (uint32_t i = 0; i < n; i++)
			sum += scatter(
				(uint64_t)ids[i] << 32 | dataset->identities[ids[i]]);
	}
	return scatter(sum + roaring_bitmap_get_cardinality(selection));
}

uint64_t dataset_labels_fingerprint(
	const struct dataset *dataset, const roaring_bitmap_t *selection)
{
	roaring_uint32_iterator_t iterator;
	uint32_t ids[AT_ONCE], n;
	uint64_t hash = dataset->n_classes;
	for (uint32_t i = 0; i < dataset->n_classes; i++)
		hash = fold_text(hash, dataset->classes[i], strlen(dataset->classes[i]));
	roaring_init_iterator(selection, &iterator);
	while ((n = roaring_read_uint32_iterator(&iterator, ids, AT_ONCE)) > 0)
		for (uint32_t i = 0; i < n; i++)
			hash = fold(hash, dataset->labels[ids[i]]);
	return scatter(hash);
}

/* --- on every machine ---------------------------------------------------------------- */

static int fold_rows(sqlite3_stmt *statement, const roaring_bitmap_t *selection,
	sample_id *ids, uint64_t *ret)
{
	uint64_t n = 0, most = roaring_bitmap_get_cardinality(selection), hash = most;
	int code;
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		sqlite3_int64 id = sqlite3_column_int64(statement, 0);
		const char *path = (const char *)sqlite3_column_text(statement, 1);
		if (id < 0 || id >= UINT32_MAX || !path || n == most ||
			!roaring_bitmap_contains(selection, (uint32_t)id))
			continue;
		hash = fold_text(hash, path, strlen(path));
		hash = fold(hash, (uint64_t)sqlite3_column_int64(statement, 2));
		ids[n++] = (sample_id)id;
	}
	*ret = scatter(hash);
	if (code != SQLITE_DONE)
		return catalogue_errno(sqlite3_db_handle(statement));
	return n == most ? 0 : -EIO;
}

int dataset_by_path(struct dataset *dataset, const roaring_bitmap_t *selection,
	sample_id *ret, uint64_t *ret_fingerprint)
{
	struct connection *connection;
	sqlite3_stmt *statement = NULL;
	int err = connection_take(dataset, &connection);
	if (err)
		return err;
	if (sqlite3_prepare_v2(connection->db,
		    "SELECT id, path, bytes FROM samples WHERE NOT gone ORDER BY path",
		    -1, &statement, NULL) != SQLITE_OK)
		err = catalogue_errno(connection->db);
	else
		err = fold_rows(statement, selection, ret, ret_fingerprint);
	sqlite3_finalize(statement);
	if (err)
		log_error("catalogue %s: its paths can't be read: %s", dataset->file,
			strerror(-err));
	connection_give(dataset, connection);
	return err;
}
