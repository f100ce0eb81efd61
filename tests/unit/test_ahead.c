// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "draw/lookahead.h"

#include <criterion/criterion.h>

/* The rules of look-ahead by themselves. */

#define LOOKAHEAD 16
#define TENSOR 10

/* Of two streams in a cache for 80 tensors: 40 may be ahead, or 10 each. */
static struct ahead with(uint32_t length, uint64_t held)
{
	return (struct ahead){.may_draw = true,
		.lookahead = LOOKAHEAD,
		.length = length,
		.remaining = 100,
		.tensor_bytes = TENSOR,
		.streams = 2,
		.cache = {.capacity = 80 * TENSOR, .pinned_bytes = held * TENSOR}};
}

static bool has_room(uint32_t length, uint64_t held)
{
	struct ahead ahead = with(length, held);
	return ahead_has_room(&ahead);
}

Test(ahead, no_more_than_the_look_ahead_is_drawn)
{
	cr_expect(has_room(LOOKAHEAD - 1, 0));
	cr_expect_not(has_room(LOOKAHEAD, 0));
}

Test(ahead, what_is_drawn_takes_half_of_the_cache)
{
	cr_expect(has_room(LOOKAHEAD - 1, 39));
	cr_expect_not(has_room(LOOKAHEAD - 1, 40));
}

Test(ahead, what_is_awaited_is_counted_too)
{
	struct ahead ahead = with(LOOKAHEAD - 1, 30);
	ahead.cache.awaited = 9;
	cr_expect(ahead_has_room(&ahead));
	ahead.cache.awaited = 10;
	cr_expect_not(ahead_has_room(&ahead));
}

Test(ahead, without_room_in_that_half_each_has_its_share_of_a_quarter)
{
	cr_expect(has_room(9, 80));
	cr_expect_not(has_room(10, 80));
}

Test(ahead, one_sample_may_be_ahead_in_any_cache)
{
	struct ahead ahead = with(0, 1);
	ahead.cache.capacity = TENSOR;
	cr_expect(ahead_has_room(&ahead));
	ahead.length = 1;
	cr_expect_not(ahead_has_room(&ahead));
}

Test(ahead, a_stream_that_may_not_draw_or_has_nothing_left_has_no_room)
{
	struct ahead ahead = with(0, 0);
	ahead.may_draw = false;
	cr_expect_not(ahead_has_room(&ahead));
	ahead = with(0, 0);
	ahead.remaining = 0;
	cr_expect_not(ahead_has_room(&ahead));
}

Test(ahead, the_second_half_is_drawn_in_rounds_for_all)
{
	struct ahead first = with(LOOKAHEAD / 2 - 1, 0);
	struct ahead second = with(LOOKAHEAD / 2, 0);
	cr_expect(ahead_wants_round(&first, true));
	cr_expect_not(ahead_wants_round(&second, true));
	cr_expect(ahead_wants_round(&second, false));
}

Test(ahead, a_stream_is_low_when_half_of_its_last_refill_is_left)
{
	struct ahead ahead = with(5, 0);
	ahead.filled = 9;
	cr_expect_not(ahead_is_low(&ahead));
	ahead.filled = 10;
	cr_expect(ahead_is_low(&ahead));
}

/* Who stopped for others is low at half of its look-ahead; who had no room, at half of
 * what there was room for. */
Test(ahead, what_others_did_not_take_part_in_counts_as_refilled)
{
	struct ahead stopped = with(8, 8), without_room = with(12, 40);
	cr_expect_eq(ahead_refilled(&stopped), LOOKAHEAD);
	cr_expect_eq(ahead_refilled(&without_room), 12);
}
