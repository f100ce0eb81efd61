// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/bitmap.h"
#include "group/peers.h"

#include <errno.h>
#include <string.h>

/* The table peers->shared has the datasets whose samples this node shares. After a rescan the table
 * has both editions of the dataset, because running epochs still read the previous one. */

/* Equal fingerprints mean samples with equal paths, sizes and ids. */
static int make_fingerprint(struct dataset *dataset, uint64_t *ret)
{
	auto_bitmap roaring_bitmap_t *all = NULL;
	auto_free char *message = NULL;
	uint64_t both[2];
	int err = dataset_select(dataset, NULL, &all, &message);
	if (err)
		return err;
	size_t n = roaring_bitmap_get_cardinality(all);
	auto_free sample_id *ids = calloc(n + 1, sizeof(*ids));
	err = ids ? dataset_by_path(dataset, all, ids, &both[0]) : -ENOMEM;
	if (!err) {
		both[1] = place_hash(ids, n * sizeof(*ids));
		*ret = place_hash(both, sizeof(both));
	}
	return err;
}

const struct shared_dataset *shared_find_locked(
	const struct peers *peers, const struct dataset *dataset)
{
	lock_assert_held(&peers->lock);
	for (size_t i = 0; i < peers->n_shared; i++)
		if (peers->shared[i].dataset == dataset)
			return &peers->shared[i];
	return NULL;
}

const struct shared_dataset *shared_named_locked(
	const struct peers *peers, const char *name, const uint64_t *fingerprint)
{
	lock_assert_held(&peers->lock);
	for (size_t i = peers->n_shared; i-- > 0;) {
		const struct shared_dataset *shared = &peers->shared[i];
		if (strcmp(dataset_name(shared->dataset), name) == 0 &&
			(!fingerprint || *fingerprint == shared->fingerprint))
			return shared;
	}
	return NULL;
}

static void forget_spaces_locked(struct peers *peers, const struct dataset *dataset)
{
	lock_assert_held(&peers->lock);
	for (uint32_t i = 0; i < peers->n_spaces; i++)
		if (peers->spaces[i].dataset == dataset)
			peers->spaces[i].dataset = NULL;
}

/* Removes from the table the editions of the dataset `name`, but not the `keep` newest. Stores the
 * removed editions in `ret`, and returns their number. The caller closes them after it has released
 * the lock. */
static size_t take_out_locked(
	struct peers *peers, const char *name, size_t keep, struct dataset **ret)
{
	size_t n = 0, same = 0, left = 0;
	lock_assert_held(&peers->lock);
	for (size_t i = 0; i < peers->n_shared; i++)
		same += strcmp(dataset_name(peers->shared[i].dataset), name) == 0;
	for (size_t i = 0; i < peers->n_shared; i++) {
		struct dataset *dataset = peers->shared[i].dataset;
		if (strcmp(dataset_name(dataset), name) != 0 || same-- <= keep) {
			peers->shared[left++] = peers->shared[i];
			continue;
		}
		forget_spaces_locked(peers, dataset);
		ret[n++] = dataset;
	}
	peers->n_shared = left;
	return n;
}

#define MOST_EDITIONS 2

int peers_share(struct peers *peers, struct dataset *dataset)
{
	struct dataset *old[MOST_EDITIONS];
	size_t n_old = 0;
	uint64_t fingerprint = 0;
	int err = make_fingerprint(dataset, &fingerprint);
	if (err)
		return err;
	{
		LOCK_SCOPE(&peers->lock);
		struct shared_dataset *shared =
			reallocarray(peers->shared, peers->n_shared + 1, sizeof(*shared));
		if (!shared)
			return -ENOMEM;
		peers->shared = shared;
		n_old = take_out_locked(
			peers, dataset_name(dataset), MOST_EDITIONS - 1, old);
		shared[peers->n_shared++] =
			(struct shared_dataset){dataset_hold(dataset), fingerprint};
	}
	for (size_t i = 0; i < n_old; i++)
		dataset_close(&old[i]);
	return 0;
}

void peers_unshare(struct peers *peers, const char *name)
{
	struct dataset *old[MOST_EDITIONS];
	size_t n_old;
	{
		LOCK_SCOPE(&peers->lock);
		n_old = take_out_locked(peers, name, 0, old);
	}
	for (size_t i = 0; i < n_old; i++)
		dataset_close(&old[i]);
}

void shared_free(struct peers *peers)
{
	for (size_t i = 0; i < peers->n_shared; i++)
		dataset_close(&peers->shared[i].dataset);
	free(peers->shared);
}
