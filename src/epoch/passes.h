// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/bitmap.h"
#include "base/cleanup.h"

/*
 * Chooses the samples of each epoch from a dataset that has more samples than an epoch. All epochs
 * have the same number of samples. Each epoch continues where the previous one has stopped:
 *
 *    epoch   |   0   |   1   |   2   |   3   |   4   |
 *    pass    |         0         |         1         |
 *
 * A pass, here of the dataset and not of a script, has each sample once, in its own order. An epoch
 * never has a sample twice, even if two passes meet in it. Each sample was in k or k + 1 of the
 * epochs so far, with the same k for all samples.
 *
 *  Flow: called for a mixture, when the stream of an epoch is made.
 *  Threads: any; equal arguments give equal samples, on every machine.
 *  Errors: -ENOMEM.
 */

/* Returns in *ret the n samples of an epoch; 1 <= n <= |all|. The caller frees *ret. Takes as long
 * as two or three shuffles of all samples. */
must_check int passes_of_epoch(const roaring_bitmap_t *all, uint32_t n, uint64_t seed,
	uint32_t epoch, roaring_bitmap_t **ret);
