// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "epoch/passes.h"
#include "base/ensure.h"
#include "base/rng.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Divides passes into epochs. If an epoch has at most half of all samples, a pass consists of a
 * head, which completes the epoch that the previous pass has begun, of whole epochs, and of a tail,
 * with which the next epoch begins:
 *
 *    |   head   |  epoch  |  epoch  |   tail   |
 *
 * A pass has all samples in its own shuffled order. The tail is the end of this order. The head has
 * the first samples of this order that are not in the previous pass's tail. Therefore the epoch
 * that consists of the previous pass's tail and this head has no sample twice. There are enough
 * such samples, since both tails are shorter than an epoch. All other samples, in their order, are
 * the middle. So two shuffled passes tell the samples of an epoch, and nothing has to be
 * remembered.
 *
 * If an epoch has more than half of all samples, the samples that it lacks are chosen in this way.
 */

struct passes {
	const roaring_bitmap_t *all;
	/* n_all: number of all samples.
	 * n: number of samples of an epoch or, if this is more than half of all, number of samples
	 * that an epoch lacks. */
	uint32_t n_all, n;
	uint64_t seed;
};

/* Returns all samples in the order of the pass; the caller frees them. NULL: no memory. */
static uint32_t *shuffled(const struct passes *passes, uint64_t pass)
{
	uint32_t *ids = malloc(passes->n_all * sizeof(*ids));
	struct rng rng;
	if (!ids)
		return NULL;
	roaring_bitmap_to_uint32_array(passes->all, ids);
	rng_seed(&rng, rng_mix(passes->seed, pass));
	rng_shuffle(&rng, ids, passes->n_all);
	return ids;
}

static uint32_t tail_of(const struct passes *passes, uint64_t pass)
{
	return (uint32_t)((pass + 1) * passes->n_all % passes->n);
}

static uint32_t head_of(const struct passes *passes, uint64_t pass)
{
	uint32_t before = pass > 0 ? tail_of(passes, pass - 1) : 0;
	return before > 0 ? passes->n - before : 0;
}

static int add_tail(const struct passes *passes, uint64_t pass, roaring_bitmap_t *ret)
{
	auto_free uint32_t *ids = shuffled(passes, pass);
	uint32_t n = tail_of(passes, pass);
	if (!ids)
		return -ENOMEM;
	roaring_bitmap_add_many(ret, n, ids + passes->n_all - n);
	return 0;
}

/* Adds n samples to *ret: samples of the pass's head or, if head = false, of its middle. The first
 * `skip` samples of the head or middle are left out. before: the tail of the previous pass. */
static int add(const struct passes *passes, uint64_t pass, const roaring_bitmap_t *before,
	bool head, uint32_t skip, uint32_t n, roaring_bitmap_t *ret)
{
	auto_free uint32_t *ids = shuffled(passes, pass);
	uint32_t heads = head_of(passes, pass), end;
	if (!ids)
		return -ENOMEM;
	end = passes->n_all - tail_of(passes, pass);
	for (uint32_t i = 0; i < end && n > 0; i++) {
		bool in_head = heads > 0 && !roaring_bitmap_contains(before, ids[i]);
		heads -= in_head;
		if (in_head != head)
			continue;
		if (skip > 0) {
			skip--;
			continue;
		}
		roaring_bitmap_add(ret, ids[i]);
		n--;
	}
	ensure(n == 0);
	return 0;
}

/* tail: an empty bitmap, which gets the tail of a pass; `add` then adds samples of the next pass */
static int find(const struct passes *passes, uint32_t epoch, roaring_bitmap_t *tail,
	roaring_bitmap_t *ret)
{
	uint64_t from = (uint64_t)epoch * passes->n, pass = from / passes->n_all;
	uint32_t at = (uint32_t)(from % passes->n_all);
	bool meets = at + passes->n > passes->n_all;
	int err = 0;
	if (meets || pass > 0)
		err = add_tail(passes, meets ? pass : pass - 1, tail);
	if (err)
		return err;
	if (!meets)
		return add(passes, pass, tail, false, at - head_of(passes, pass),
			passes->n, ret);
	roaring_bitmap_or_inplace(ret, tail);
	return add(passes, pass + 1, tail, true, 0, head_of(passes, pass + 1), ret);
}

static int fill(const struct passes *passes, uint32_t epoch, roaring_bitmap_t *ret)
{
	auto_bitmap roaring_bitmap_t *tail = roaring_bitmap_create();
	return tail ? find(passes, epoch, tail, ret) : -ENOMEM;
}

/* Replaces *ret by the samples of `all` that *ret lacks; by NULL if there is no memory. */
static void invert(const roaring_bitmap_t *all, roaring_bitmap_t **ret)
{
	roaring_bitmap_t *others = roaring_bitmap_andnot(all, *ret);
	bitmap_free(ret);
	*ret = others;
}

int passes_of_epoch(const roaring_bitmap_t *all, uint32_t n, uint64_t seed,
	uint32_t epoch, roaring_bitmap_t **ret)
{
	uint32_t n_all = (uint32_t)roaring_bitmap_get_cardinality(all);
	bool lacks = n > n_all / 2;
	struct passes passes = {all, n_all, lacks ? n_all - n : n, seed};
	ensure(n > 0 && n <= n_all);
	*ret = n == n_all ? roaring_bitmap_copy(all) : roaring_bitmap_create();
	int err = *ret ? 0 : -ENOMEM;
	if (n == n_all || err)
		return err;
	if (fill(&passes, epoch, *ret) != 0)
		bitmap_free(ret);
	else if (lacks)
		invert(all, ret);
	return *ret ? 0 : -ENOMEM;
}
