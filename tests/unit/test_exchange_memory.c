// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sampler/sampler.h"

#include <criterion/criterion.h>

/*
 * Each allocation fails once. A job or a stream that could not be added has changed nothing, and
 * can be added at the next try. A sample that could not be noted as resident counts as not
 * resident. CRoaring's own allocations (malloc, aligned) succeed, because it can't handle
 * failures.
 */

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)

void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *memory, size_t size);

static bool armed;
static unsigned left; /* allocations before the one that fails */

static bool fails(void)
{
	return armed && left-- == 0;
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *reallocarray(void *memory, size_t n, size_t size)
{
	return fails() ? NULL : __libc_realloc(memory, n * size);
}

#define JOBS 5
#define IDS 400

static uint32_t labels[IDS];

static roaring_bitmap_t *set_of(int j)
{
	roaring_bitmap_t *ids = roaring_bitmap_create();
	for (uint32_t id = 0; id < IDS; id++)
		if (id % (uint32_t)(j + 2) || j == 0)
			roaring_bitmap_add(ids, id);
	return ids;
}

static void validate(const struct sampler *sampler)
{
	armed = false;
	sampler_validate(sampler);
	armed = true;
}

/* Adds the job and its stream, and tries again after failures. Returns the number of failures. */
static unsigned come(struct sampler *sampler, int j)
{
	unsigned failures = 0;
	roaring_bitmap_t *ids = set_of(j);
	for (; sampler_join(sampler, (job_id)j, (uint32_t)j % 2, ids); failures++)
		validate(sampler);
	while (sampler_insert(sampler, (stream_id)j, (job_id)j, set_of(j)))
		failures++;
	validate(sampler);
	roaring_bitmap_free(ids);
	return failures;
}

static void read_all(struct sampler *sampler)
{
	static const stream_id streams[JOBS] = {0, 1, 2, 3, 4};
	sample_id ret[JOBS];
	roaring_bitmap_t *given[JOBS];
	for (int j = 0; j < JOBS; j++)
		given[j] = roaring_bitmap_create();
	for (unsigned round = 0; round < IDS; round++) {
		sampler_draw(sampler, streams, JOBS, ret);
		for (int j = 0; j < JOBS; j++) {
			if (ret[j] == SAMPLE_NONE)
				continue;
			roaring_bitmap_add(given[j], ret[j]);
			if (round > 150)
				sampler_evicted(sampler, (uint32_t)j % 2, ret[j]);
		}
	}
	for (int j = 0; j < JOBS; j++) {
		roaring_bitmap_t *ids = set_of(j);
		cr_assert_eq(sampler_remaining(sampler, streams[j]), 0);
		cr_assert(roaring_bitmap_equals(given[j], ids));
		roaring_bitmap_free(ids);
		roaring_bitmap_free(given[j]);
	}
}

static unsigned play(struct sampler *sampler)
{
	unsigned failures = 0;
	for (int j = 0; j < JOBS; j++)
		failures += come(sampler, j);
	read_all(sampler);
	validate(sampler);
	for (stream_id j = 0; j < JOBS; j++) {
		sampler_remove(sampler, j);
		sampler_leave(sampler, j);
	}
	for (sample_id id = 0; id < IDS; id++)
		for (uint32_t space = 0; space < 2; space++)
			sampler_evicted(sampler, space, id);
	failures += come(sampler, 3);
	return failures;
}

static int make(bool labelled, struct sampler **ret)
{
	return labelled ? sampler_new_labelled(1, labels, IDS, ret)
			: sampler_new(SAMPLER_EXCHANGE, 1, ret);
}

static void fail_each(bool labelled)
{
	bool failed = true;
	for (unsigned n = 0; failed; n++) {
		struct sampler *sampler = NULL;
		left = n;
		armed = true;
		while (make(labelled, &sampler))
			;
		unsigned failures = play(sampler);
		armed = false;
		failed = (int)left < 0;
		cr_assert_leq(failures, 1);
		sampler_free(&sampler);
	}
}

Test(exchange_memory, each_allocation_may_fail)
{
	fail_each(false);
}

Test(exchange_memory, each_allocation_may_fail_with_labels)
{
	for (uint32_t id = 0; id < IDS; id++)
		labels[id] = id / 10;
	fail_each(true);
}

#endif
