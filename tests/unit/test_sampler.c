// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../../tools/sim/sim_sampler.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

/* The contract of sampler.h, for each engine, and for the paper's tree. */

static const enum sampler_kind kinds[] = {
	SAMPLER_DSA, SAMPLER_ISA, SAMPLER_EXCHANGE, SAMPLER_SEQUENTIAL, SAMPLER_DSA_TREE};

#define KINDS (int)(sizeof(kinds) / sizeof(kinds[0]))

static struct sampler *new_sampler(enum sampler_kind kind, uint64_t seed)
{
	struct sampler *sampler;
	cr_assert_eq(sim_sampler_new(kind, seed, &sampler), 0);
	return sampler;
}

static void insert(
	struct sampler *sampler, stream_id stream, uint32_t begin, uint32_t end)
{
	roaring_bitmap_t *ids = roaring_bitmap_create();
	roaring_bitmap_add_range(ids, begin, end);
	/* each stream has its own job */
	int error = sampler_join(sampler, stream, 0, ids);
	cr_assert(error == 0 || error == -EEXIST);
	cr_assert_eq(sampler_insert(sampler, stream, stream, ids), 0);
}

static sample_id draw_one(struct sampler *sampler, stream_id stream)
{
	sample_id ret;
	sampler_draw(sampler, &stream, 1, &ret);
	return ret;
}

Test(sampler, a_stream_exists_once)
{
	for (int i = 0; i < KINDS; i++) {
		struct sampler *sampler = new_sampler(kinds[i], 1);
		insert(sampler, 7, 0, 10);
		cr_assert_eq(
			sampler_insert(sampler, 7, 0, roaring_bitmap_create()), -EEXIST);
		cr_assert_eq(sampler_remaining(sampler, 7), 10);
		sampler_remove(sampler, 7);
		insert(sampler, 7, 0, 5);
		cr_assert_eq(sampler_remaining(sampler, 7), 5);
		sampler_validate(sampler);
		sampler_free(&sampler);
		cr_assert_null(sampler);
	}
}

Test(sampler, an_exhausted_stream_gets_none_and_others_go_on)
{
	for (int i = 0; i < KINDS; i++) {
		struct sampler *sampler = new_sampler(kinds[i], 1);
		sample_id ret[3];
		insert(sampler, 1, 0, 0);
		insert(sampler, 2, 5, 7);
		insert(sampler, 3, 5, 6);
		sampler_draw(sampler, (stream_id[]){1, 2, 3}, 3, ret);
		cr_assert_eq(ret[0], SAMPLE_NONE);
		cr_assert(ret[1] == 5 || ret[1] == 6);
		cr_assert_eq(ret[2], 5);
		sampler_draw(sampler, (stream_id[]){3, 2, 1}, 3, ret);
		cr_assert_eq(ret[0], SAMPLE_NONE);
		cr_assert_neq(ret[1], SAMPLE_NONE);
		cr_assert_eq(sampler_remaining(sampler, 2), 0);
		sampler_validate(sampler);
		sampler_free(&sampler);
	}
}

Test(sampler, what_was_given_is_no_longer_contained)
{
	for (int i = 0; i < KINDS; i++) {
		struct sampler *sampler = new_sampler(kinds[i], 1);
		insert(sampler, 1, 100, 200);
		insert(sampler, 2, 100, 200);
		sample_id given = draw_one(sampler, 1);
		cr_assert_not(sampler_contains(sampler, 1, given));
		cr_assert(sampler_contains(sampler, 2, given));
		cr_assert_not(sampler_contains(sampler, 2, 200));
		cr_assert_eq(sampler_remaining(sampler, 1), 99);
		sampler_free(&sampler);
	}
}

Test(sampler, sequential_gives_ascending_ids)
{
	struct sampler *sampler = new_sampler(SAMPLER_SEQUENTIAL, 1);
	insert(sampler, 1, 65000, 67000);
	insert(sampler, 2, 0, 10);
	for (sample_id id = 65000; id < 67000; id++)
		cr_assert_eq(draw_one(sampler, 1), id);
	cr_assert_eq(draw_one(sampler, 1), SAMPLE_NONE);
	cr_assert_eq(draw_one(sampler, 2), 0);
	sampler_free(&sampler);
}

#define ROUNDS 300

/* Draws rounds of three streams, now and then without one of them. reverse: the streams are named
 * in the other order. */
static void decisions(
	enum sampler_kind kind, uint64_t seed, bool reverse, sample_id ret[ROUNDS][3])
{
	struct sampler *sampler = new_sampler(kind, seed);
	insert(sampler, 1, 0, 400);
	insert(sampler, 2, 100, 500);
	insert(sampler, 3, 0, 450);
	for (int i = 0; i < ROUNDS; i++) {
		stream_id streams[3] = {1, 2, 3};
		sample_id samples[3] = {SAMPLE_NONE, SAMPLE_NONE, SAMPLE_NONE};
		size_t n = i % 3 ? 3 : 2;
		if (reverse) {
			streams[0] = streams[n - 1];
			streams[n - 1] = 1;
		}
		sampler_draw(sampler, streams, n, samples);
		for (size_t j = 0; j < 3; j++)
			ret[i][j] = samples[reverse && j < n ? n - 1 - j : j];
	}
	sampler_free(&sampler);
}

Test(sampler, the_same_seed_and_events_give_the_same_decisions)
{
	static sample_id a[ROUNDS][3], b[ROUNDS][3];
	for (int i = 0; i < KINDS; i++) {
		decisions(kinds[i], 42, false, a);
		decisions(kinds[i], 42, false, b);
		cr_assert_eq(memcmp(a, b, sizeof(a)), 0);
	}
}

Test(sampler, the_order_in_which_a_round_is_named_does_not_matter)
{
	static sample_id a[ROUNDS][3], b[ROUNDS][3];
	for (int i = 0; i < KINDS; i++) {
		decisions(kinds[i], 42, false, a);
		decisions(kinds[i], 42, true, b);
		cr_assert_eq(memcmp(a, b, sizeof(a)), 0);
	}
}

Test(sampler, another_seed_gives_other_decisions)
{
	static sample_id a[ROUNDS][3], b[ROUNDS][3];
	for (int i = 0; i < KINDS; i++) {
		decisions(kinds[i], 42, false, a);
		decisions(kinds[i], 43, false, b);
		bool same = !memcmp(a, b, sizeof(a));
		cr_assert_eq(same, kinds[i] == SAMPLER_SEQUENTIAL);
	}
}

/* Equal sets that draw together: in every round one load serves all streams. */
Test(sampler, dsa_gives_equal_streams_the_same)
{
	struct sampler *sampler = new_sampler(SAMPLER_DSA, 9);
	sample_id ret[3];
	for (stream_id j = 0; j < 3; j++)
		insert(sampler, j, 0, 1000);
	for (int i = 0; i < 1000; i++) {
		sampler_draw(sampler, (stream_id[]){0, 1, 2}, 3, ret);
		cr_assert(ret[0] == ret[1] && ret[1] == ret[2]);
	}
	sampler_free(&sampler);
}

Test(sampler, dsa_foresees_what_it_will_give)
{
	struct sampler *sampler = new_sampler(SAMPLER_DSA, 9);
	sample_id ret[2];
	insert(sampler, 1, 0, 1000);
	insert(sampler, 2, 0, 1000);
	for (int i = 0; i < 500; i++) {
		sample_id next = sampler_foresee(sampler, 1);
		sampler_draw(sampler, (stream_id[]){1, 2}, 2, ret);
		cr_assert(ret[0] == next && ret[1] == next);
	}
	for (int i = 0; i < 500; i++) {
		sample_id next = sampler_foresee(sampler, 1);
		cr_assert_eq(draw_one(sampler, 1), next);
	}
	cr_assert_eq(sampler_foresee(sampler, 1), SAMPLE_NONE);
	sampler_free(&sampler);
}

/* Draws rounds of a stream that leaves and comes back with other samples before it has had all of
 * them, and now and then rounds of another stream. The first stream's sets are small, so that many
 * draws have the same rank. */
static void decisions_foreseen(
	enum sampler_kind kind, bool foresees, sample_id ret[ROUNDS][2])
{
	struct sampler *sampler = new_sampler(kind, 7);
	insert(sampler, 1, 0, 6);
	insert(sampler, 2, 0, ROUNDS);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		if (foresees && i % 5 == 1)
			(void)sampler_foresee(sampler, 1);
		if (i % 3 == 2) {
			sampler_remove(sampler, 1);
			sampler_leave(sampler, 1);
			insert(sampler, 1, i, i + 6);
		}
		if (foresees && i % 5 >= 3)
			(void)sampler_foresee(sampler, i % 5 == 3 ? 2 : 1);
		ret[i][1] = SAMPLE_NONE;
		sampler_draw(sampler, (stream_id[]){1, 2}, i % 5 == 3 ? 2 : 1, ret[i]);
	}
	sampler_free(&sampler);
}

Test(sampler, to_foresee_changes_no_draw)
{
	static sample_id a[ROUNDS][2], b[ROUNDS][2];
	for (int i = 0; i < KINDS; i++) {
		decisions_foreseen(kinds[i], false, a);
		decisions_foreseen(kinds[i], true, b);
		cr_assert_eq(memcmp(a, b, sizeof(a)), 0);
	}
}
