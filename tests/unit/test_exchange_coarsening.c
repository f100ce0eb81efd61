// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sampler/exchange/exchange_internal.h"

#include <criterion/criterion.h>
#include <errno.h>

/* After a job has left, its set stops dividing ids into classes, and no caller waits for this. */

#define IDS 3000

static struct sampler *sampler;
static roaring_bitmap_t *all, *half;

static void join(job_id job, const roaring_bitmap_t *selection)
{
	cr_assert_eq(0, sampler_join(sampler, job, 0, selection));
}

static uint32_t count_classes(void)
{
	return sampler->exchange->slots->n_classes;
}

/* One job has all samples. Another one, which has left, had half of them. */
static void start(void)
{
	cr_assert_eq(0, sampler_new(SAMPLER_EXCHANGE, 1, &sampler));
	all = roaring_bitmap_from_range(0, IDS, 1);
	half = roaring_bitmap_from_range(0, IDS, 2);
	join(0, all);
	join(1, half);
	sampler_leave(sampler, 1);
	cr_assert_eq(2, count_classes());
}

static void stop(void)
{
	sampler_free(&sampler);
	roaring_bitmap_free(all);
	roaring_bitmap_free(half);
}

TestSuite(exchange_coarsening, .init = start, .fini = stop);

static struct sampler_set *make_set(void)
{
	struct sampler_set *set;
	cr_assert_eq(0, sampler_set_new(sampler, &set));
	cr_assert_eq(0, sampler_set_fill(set, all));
	return set;
}

/* The sampler takes the sets of all ids that were made before, and makes none. */
Test(exchange_coarsening, an_insertion_makes_nothing_of_all_ids)
{
	struct sampler_set *set = make_set();
	struct slots *slots = exchange_slots(sampler->exchange);
	const struct idset *numbered = set->slots;
	cr_assert_eq(0, sampler_insert_set(sampler, 0, 0, set));
	cr_assert_eq(slots, sampler->exchange->slots, "all ids are divided anew");
	cr_assert_eq(numbered, sampler->by_id[0]->owned->slots, "the set is made anew");
	slots_put(&slots);
	sampler_validate(sampler);
}

static struct sampler_coarsening *begin(void)
{
	struct sampler_coarsening *coarsening;
	cr_assert_eq(0, sampler_coarsening_new(sampler, &coarsening));
	cr_assert(coarsening);
	cr_assert_eq(0, sampler_coarsening_prepare(coarsening));
	return coarsening;
}

static void end(struct sampler_coarsening *coarsening, int expected)
{
	cr_assert_eq(expected, sampler_coarsen(sampler, coarsening));
	sampler_coarsening_free(&coarsening);
	sampler_validate(sampler);
}

static void expect_nothing_to_do(void)
{
	struct sampler_coarsening *coarsening;
	cr_assert_eq(0, sampler_coarsening_new(sampler, &coarsening));
	cr_assert_null(coarsening);
}

Test(exchange_coarsening, what_a_job_divided_becomes_one_again)
{
	end(begin(), 0);
	cr_assert_eq(1, count_classes());
	expect_nothing_to_do();
}

/* A new job needs the classes as they are, so the coarsening changes none. */
Test(exchange_coarsening, a_job_that_comes_meanwhile_keeps_its_classes)
{
	struct sampler_coarsening *coarsening = begin();
	join(2, half);
	end(coarsening, -EAGAIN);
	cr_assert_eq(2, count_classes());
	end(begin(), 0);
	cr_assert_eq(2, count_classes());
}

Test(exchange_coarsening, jobs_may_leave_meanwhile)
{
	struct sampler_coarsening *coarsening;
	cr_assert_eq(0, sampler_coarsening_new(sampler, &coarsening));
	sampler_leave(sampler, 0);
	cr_assert_eq(0, sampler_coarsening_prepare(coarsening));
	end(coarsening, -EAGAIN);
}

Test(exchange_coarsening, nothing_changes_beside_a_stream_or_a_resident)
{
	struct sampler_coarsening *coarsening = begin();
	cr_assert_eq(0, sampler_insert_set(sampler, 0, 0, make_set()));
	end(coarsening, -EAGAIN);
	expect_nothing_to_do();
	sampler_remove(sampler, 0);
	coarsening = begin();
	sampler_resident(sampler, 0, 7);
	end(coarsening, -EAGAIN);
	expect_nothing_to_do();
	cr_assert_eq(2, count_classes());
}
