// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sampler/sampler.h"

#include <criterion/criterion.h>
#include <errno.h>

/* A job joins in parts. Between the parts streams draw, come and go. */

#define IDS 3000

static struct sampler *sampler;
static roaring_bitmap_t *all, *half;

static void insert(stream_id id)
{
	cr_assert_eq(0, sampler_join(sampler, id, 0, all));
	cr_assert_eq(0, sampler_insert(sampler, id, id, roaring_bitmap_copy(all)));
}

static void start(void)
{
	cr_assert_eq(0, sampler_new(SAMPLER_EXCHANGE, 1, &sampler));
	all = roaring_bitmap_from_range(0, IDS, 1);
	half = roaring_bitmap_from_range(0, IDS, 2);
	insert(0);
	insert(1);
}

static void stop(void)
{
	sampler_free(&sampler);
	roaring_bitmap_free(all);
	roaring_bitmap_free(half);
}

TestSuite(exchange_joining, .init = start, .fini = stop);

static void draw(uint32_t n)
{
	static const stream_id both[] = {0, 1};
	sample_id given[2];
	for (uint32_t i = 0; i < n; i++)
		sampler_draw(sampler, both, 2, given);
	sampler_validate(sampler);
}

static struct sampler_joining *begin(const roaring_bitmap_t *selection)
{
	struct sampler_joining *joining;
	cr_assert_eq(0, sampler_joining_new(sampler, 0, selection, &joining));
	return joining;
}

Test(exchange_joining, streams_draw_meanwhile)
{
	draw(100);
	struct sampler_joining *joining = begin(half);
	draw(300);
	cr_assert_eq(0, sampler_joining_prepare(joining));
	draw(200);
	cr_assert_eq(0, sampler_join_prepared(sampler, 2, 0, joining));
	sampler_joining_free(&joining);
	draw(IDS - 600); /* to the end of both streams */
	cr_assert_eq(0, sampler_remaining(sampler, 0));
	cr_assert_eq(0, sampler_remaining(sampler, 1));
}

Test(exchange_joining, begins_again_after_another_job_or_stream)
{
	struct sampler_joining *joining = begin(half);
	cr_assert_eq(0, sampler_joining_prepare(joining));
	insert(2);
	cr_assert_eq(-EAGAIN, sampler_join_prepared(sampler, 3, 0, joining));
	sampler_joining_free(&joining);
	joining = begin(half);
	cr_assert_eq(0, sampler_joining_prepare(joining));
	cr_assert_eq(0, sampler_join(sampler, 4, 0, half));
	cr_assert_eq(-EAGAIN, sampler_join_prepared(sampler, 3, 0, joining));
	sampler_joining_free(&joining);
	sampler_validate(sampler);
}

/* The other job has gone, so its samples no longer divide ids. */
Test(exchange_joining, a_stream_that_ends_meanwhile_is_no_matter)
{
	struct sampler_joining *joining = begin(half);
	sampler_remove(sampler, 1);
	sampler_leave(sampler, 1);
	cr_assert_eq(0, sampler_joining_prepare(joining));
	cr_assert_eq(0, sampler_join_prepared(sampler, 3, 0, joining));
	sampler_joining_free(&joining);
	sampler_validate(sampler);
}
