// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Limits how many reads of one storage are in flight. The best limit is the smallest one
 * at which the storage reaches its full speed. It is found by trying.
 *
 * The rate of reads is measured in rounds. A round has as many reads as the limit, but
 * at least 32; after the first failed try, twice as many. If most reads of a round ran
 * while the limit was reached, the next round, or one some time later, tries twice the
 * limit or half of it. The doubled limit is kept if the rate grows by a quarter, or if
 * it is rarely reached and the rate does not fall. The halved limit is kept if the rate
 * falls by less than a tenth.
 *
 *   Flow: flight_init -> flight_begin, flight_end for each read, as long as flight_has_room.
 *   Threads, locks, clock: none; the caller serialises and passes the time.
 */

struct flight {
	unsigned most;	  /* largest limit */
	unsigned limit;	  /* most reads that may be in flight now */
	unsigned settled; /* limit that is used again if a try fails */
	bool fixed;
	/* a doubled or halved limit was tried and not kept */
	bool has_failed;
	bool tries_less; /* the current try, or else the next one, halves the limit */
	unsigned in_flight;
	double rate;   /* reads per second at the settled limit; 0: not known */
	unsigned rest; /* number of rounds until another limit is tried */
	/* The members from here on describe the current round. */
	/* moved forward by times without a read in flight, so that they don't count */
	uint64_t begun_ns;
	uint64_t idle_ns; /* time at which the last read ended */
	unsigned ended;
	/* reads among the ended ones that ran while the limit was reached */
	unsigned at_limit;
};

/* limit: fixed limit; 0: the limit is found by trying, and is at most `most`. */
void flight_init(struct flight *flight, unsigned limit, unsigned most);
bool flight_has_room(const struct flight *flight);
void flight_begin(struct flight *flight, uint64_t now_ns);
void flight_end(struct flight *flight, uint64_t now_ns);
