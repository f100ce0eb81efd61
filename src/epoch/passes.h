// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/cleanup.h"

#include <roaring/roaring.h>

/*
 * Which samples of a dataset an epoch has, where all epochs have the same number of them. One
 * epoch goes on where the last one has stopped:
 *
 *     epoch   |   0   |   1   |   2   |   3   |   4   |
 *     pass    |         0         |         1         |
 *
 * Each pass has each sample once, in an order of its own; and no epoch has a sample twice,
 * although two passes may meet in it. So what an epoch does not need of a pass that ends in it
 * comes early in none: after each epoch no sample was had twice more often than another one.
 *
 *   Flow: of a mixture, when the stream of an epoch is made.
 *   Threads: any: nothing is kept. The same arguments give the same samples, on every machine.
 *   Errors: -ENOMEM.
 */

/* n of `all`, which are at least n, and n at least 1; *ret is the caller's. Takes as long as
 * it takes to shuffle all of them, twice or three times. */
must_check int passes_of_epoch(const roaring_bitmap_t *all, uint32_t n, uint64_t seed,
	uint32_t epoch, roaring_bitmap_t **ret);
