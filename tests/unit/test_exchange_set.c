// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sampler/sampler.h"

#include <criterion/criterion.h>

#define N_IDS 64
#define N_LEFT 20 /* ids that are left of a running epoch */

static void join(struct sampler *sampler, job_id job, uint32_t first, uint32_t end)
{
	roaring_bitmap_t *ids = roaring_bitmap_from_range(first, end, 1);
	cr_assert_eq(sampler_join(sampler, job, 0, ids), 0);
	roaring_bitmap_free(ids);
}

static struct sampler_set *make_set(const struct sampler *sampler)
{
	roaring_bitmap_t *ids = roaring_bitmap_from_range(0, N_LEFT, 1);
	struct sampler_set *set;
	cr_assert_eq(sampler_set_new(sampler, &set), 0);
	cr_assert_eq(sampler_set_fill(set, ids), 0);
	roaring_bitmap_free(ids);
	return set;
}

static void draw_all(struct sampler *sampler, stream_id stream)
{
	uint64_t seen = 0;
	for (int i = 0; i < N_LEFT; i++) {
		sample_id sample;
		sampler_draw(sampler, &stream, 1, &sample);
		sampler_validate(sampler);
		cr_assert_lt(sample, N_LEFT);
		cr_assert(!(seen >> sample & 1));
		seen |= UINT64_C(1) << sample;
	}
}

Test(exchange_set, jobs_may_come_between_the_making_of_a_set_and_its_insertion)
{
	struct sampler *sampler;
	cr_assert_eq(sampler_new(SAMPLER_EXCHANGE, 1, &sampler), 0);
	join(sampler, 0, 0, N_IDS);
	struct sampler_set *set = make_set(sampler);
	/* now the middle is a class, so ids have other numbers */
	join(sampler, 1, 8, 24);
	cr_assert_eq(sampler_insert_set(sampler, 5, 0, set), 0);
	sampler_validate(sampler);
	join(sampler, 2, 16, 32);
	draw_all(sampler, 5);
	sampler_free(&sampler);
}

Test(exchange_set, a_set_outlives_the_numbers_it_was_made_by)
{
	struct sampler *sampler;
	cr_assert_eq(sampler_new(SAMPLER_EXCHANGE, 1, &sampler), 0);
	join(sampler, 0, 0, N_IDS);
	struct sampler_set *set;
	cr_assert_eq(sampler_set_new(sampler, &set), 0);
	join(sampler, 1, 8, 24);
	sampler_free(&sampler);
	roaring_bitmap_t *ids = roaring_bitmap_from_range(0, N_IDS, 1);
	cr_assert_eq(sampler_set_fill(set, ids), 0);
	roaring_bitmap_t *kept = sampler_set_ids(set);
	cr_assert(roaring_bitmap_equals(kept, ids));
	roaring_bitmap_free(kept);
	roaring_bitmap_free(ids);
	sampler_set_free(&set);
}
