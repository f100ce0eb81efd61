// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/rng.h"
#include "load/flight.h"

#include <criterion/criterion.h>

/* The number of reads in flight, against simulated storages. */

#define MS UINT64_C(1000000)
#define MOST 128

/* A storage that serves `lanes` reads at once, each in `ns`, give or take a quarter. Other reads
 * wait in line. */
struct storage {
	unsigned lanes;
	uint64_t ns;
	uint64_t free_at[1024];
	uint64_t ends[1024];
	struct rng rng;
};

/* Simulates a reader with at most `wanted` reads at once, which waits for nothing else. Returns
 * the reads/s of the last half. */
static double run(struct flight *flight, struct storage *storage, unsigned wanted,
	unsigned reads, uint64_t *now)
{
	uint64_t half = 0;
	rng_seed(&storage->rng, 1);
	for (unsigned n = 0; n < reads; n++) {
		while (flight_has_room(flight) && flight->in_flight < wanted) {
			unsigned lane = 0;
			for (unsigned i = 1; i < storage->lanes; i++)
				if (storage->free_at[i] < storage->free_at[lane])
					lane = i;
			uint64_t begin = storage->free_at[lane] > *now
						 ? storage->free_at[lane]
						 : *now;
			uint64_t end = begin + storage->ns * 3 / 4 +
				       rng_below(&storage->rng, storage->ns / 2);
			storage->free_at[lane] = end;
			storage->ends[flight->in_flight] = end;
			flight_begin(flight, *now);
		}
		unsigned first = 0;
		for (unsigned i = 1; i < flight->in_flight; i++)
			if (storage->ends[i] < storage->ends[first])
				first = i;
		*now = storage->ends[first];
		storage->ends[first] = storage->ends[flight->in_flight - 1];
		flight_end(flight, *now);
		half = n == reads / 2 ? *now : half;
		cr_assert_leq(flight->limit, flight->most);
		cr_assert_geq(flight->limit, 1);
	}
	return (reads / 2. - 1) / ((double)(*now - half) / 1e9);
}

static double rate_of(unsigned lanes, uint64_t ns, unsigned wanted, struct flight *flight)
{
	struct storage storage = {.lanes = lanes, .ns = ns};
	uint64_t now = 1;
	flight_init(flight, 0, MOST);
	return run(flight, &storage, wanted, 20000, &now);
}

Test(flight, a_storage_that_is_only_far_away_gets_as_many_as_there_may_be)
{
	struct flight flight;
	double rate = rate_of(1000, 20 * MS, 1000, &flight);
	cr_expect_gt(rate, .85 * MOST / .02, "%g", rate);
}

Test(flight, a_storage_gets_what_it_rewards)
{
	for (unsigned lanes = 1; lanes <= 64; lanes *= 4) {
		struct flight flight;
		double rate = rate_of(lanes, 5 * MS, 1000, &flight);
		cr_expect_gt(rate, .85 * lanes / .005, "%u: %g", lanes, rate);
		cr_expect_leq(flight.settled, 4 * lanes, "%u: %u", lanes, flight.settled);
	}
}

Test(flight, what_is_not_asked_for_says_nothing)
{
	struct flight flight;
	rate_of(1000, 20 * MS, 3, &flight);
	cr_expect_eq(flight.limit, 64);
}

Test(flight, who_asks_for_more_than_the_limit_gets_it_although_not_all_of_a_try)
{
	struct flight flight;
	double rate = rate_of(1000, 20 * MS, 80, &flight);
	cr_expect_gt(rate, .97 * 80 / .02, "%g", rate);
}

Test(flight, a_storage_that_gets_slower_gets_less)
{
	struct flight flight;
	struct storage fast = {.lanes = 64, .ns = 5 * MS}, slow = {.lanes = 2, .ns = MS};
	uint64_t now = 1;
	flight_init(&flight, 0, MOST);
	run(&flight, &fast, 1000, 20000, &now);
	cr_expect_geq(flight.settled, 32);
	while (flight.in_flight > 0)
		flight_end(&flight, now += MS);
	run(&flight, &slow, 1000, 40000, &now);
	cr_expect_leq(flight.settled, 8, "%u", flight.settled);
}

Test(flight, twenty_milliseconds_are_made_up_for_within_a_second)
{
	struct flight flight;
	struct storage storage = {.lanes = 1000, .ns = 20 * MS};
	uint64_t now = 1;
	flight_init(&flight, 0, MOST);
	while (now < 1000 * MS)
		run(&flight, &storage, 1000, 4, &now);
	cr_expect_eq(flight.settled, MOST, "%u", flight.settled);
}

/* Four doublings take four round trips of at most 125 ms. */
Test(flight, the_number_doubles_with_each_round_trip)
{
	struct flight flight;
	struct storage storage = {.lanes = 1024, .ns = 100 * MS};
	uint64_t now = 1;
	flight_init(&flight, 0, 1024);
	while (flight.limit < 1024 && now < 1000 * MS)
		run(&flight, &storage, 1024, 4, &now);
	cr_expect_leq(now, 4 * 125 * MS, "%u ms", (unsigned)(now / MS));
}

Test(flight, a_number_that_is_given_stays)
{
	struct flight flight;
	struct storage storage = {.lanes = 1000, .ns = 20 * MS};
	uint64_t now = 1;
	flight_init(&flight, 7, MOST);
	run(&flight, &storage, 1000, 1000, &now);
	cr_expect_eq(flight.limit, 7);
	flight_init(&flight, 500, MOST);
	cr_expect_eq(flight.limit, 500);
}

/* Reads that never end keep their slots, and other reads continue. */
Test(flight, reads_that_hang_hold_their_own_slots)
{
	struct flight flight;
	flight_init(&flight, 0, MOST);
	for (int i = 0; i < 3; i++)
		flight_begin(&flight, 1);
	for (int i = 0; i < 1000; i++) {
		cr_assert(flight_has_room(&flight));
		flight_begin(&flight, 2 + (uint64_t)i);
		flight_end(&flight, 3 + (uint64_t)i);
		cr_assert_geq(flight.in_flight, 3);
	}
}
