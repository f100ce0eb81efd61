// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/dataset_internal.h"
#include "dataset_place.h"

#include <stdatomic.h>
#include <unistd.h>

/* A scan of files on a storage that answers slowly. This file defines probe_header. */

#define FILES 300
#define ANSWER_US 5000

static atomic_int now, most;

int __real_probe_header(
	const char *path, struct tensor_shape *ret, uint8_t *ret_orientation);
int __wrap_probe_header(
	const char *path, struct tensor_shape *ret, uint8_t *ret_orientation);

int __wrap_probe_header(
	const char *path, struct tensor_shape *ret, uint8_t *ret_orientation)
{
	int n = atomic_fetch_add(&now, 1) + 1, before = atomic_load(&most);
	while (n > before && !atomic_compare_exchange_weak(&most, &before, n))
		;
	usleep(ANSWER_US);
	atomic_fetch_sub(&now, 1);
	return __real_probe_header(path, ret, ret_orientation);
}

static int most_at_once(unsigned threads)
{
	struct place place;
	char name[32];
	place_begin(&place);
	for (unsigned i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "c/%u.jpg", i);
		place_jpeg(&place, name);
	}
	atomic_store(&most, 0);
	cr_assert_eq(dataset_open_threads(
			     &place.config, place.state, NULL, threads, &place.dataset),
		0);
	cr_assert_eq(dataset_samples(place.dataset), FILES);
	place_end(&place);
	return atomic_load(&most);
}

Test(dataset_slow, more_headers_are_read_at_once)
{
	cr_assert_gt(most_at_once(2), 2);
}

Test(dataset_slow, one_thread_stays_alone)
{
	cr_assert_eq(most_at_once(1), 1);
}
