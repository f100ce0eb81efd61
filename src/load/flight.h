// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Limits how many reads of one storage are in flight. The best limit is the smallest one at which
 * the storage reaches its full speed. The best limit is found by trying several limits.
 *
 * The rate of reads is measured over groups of successive reads, here called rounds. A round has as
 * many reads as the limit (after the first failed try, twice as many), but at least 32. If the
 * limit was reached during most reads of a round, a later round tries twice the limit or half of
 * it. A doubled limit is kept if the rate grows by a quarter, or if the limit is rarely reached and
 * the rate does not fall. A halved limit is kept if the rate falls by less than a tenth.
 *
 *   Flow: flight_init -> flight_begin, flight_end for each read, as long as flight_has_room.
 *   Threads, locks, clock: none; the caller serialises and passes the time.
 */

struct flight {
	unsigned most;	  /* largest limit that is tried */
	unsigned limit;	  /* largest number of reads that may be in flight now */
	unsigned settled; /* the last limit that was kept; restored after a failed try */
	bool fixed;
	bool has_failed; /* a doubled or halved limit was tried and not kept */
	bool tries_less; /* the current try, or the next one, halves the limit */
	unsigned in_flight;
	double rate;   /* reads per second at the limit `settled`; 0: not known */
	unsigned rest; /* number of rounds until another limit is tried */
	/* The fields below describe the current round. */
	/* begin of the round, moved forward by the times without a read in flight */
	uint64_t begun_ns;
	uint64_t idle_ns;  /* time at which the last read ended */
	unsigned ended;	   /* number of reads that have ended */
	unsigned at_limit; /* reads that ended while the limit was reached */
};

/* limit: the fixed limit; 0: the limit is found by trying, and is at most `most`. */
void flight_init(struct flight *flight, unsigned limit, unsigned most);
bool flight_has_room(const struct flight *flight);
void flight_begin(struct flight *flight, uint64_t now_ns);
void flight_end(struct flight *flight, uint64_t now_ns);
