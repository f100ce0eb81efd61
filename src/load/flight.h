// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * How many reads of one storage are in flight: as many as it rewards, which is found by
 * trying. A round is a number of reads that end. If a round had as many in flight as were
 * allowed, the next one tries twice as many, or half. Twice as many stay if they give a
 * quarter more reads per second, or if no more were asked for meanwhile; half as many stay
 * if they give nearly as many.
 *
 *   Flow: flight_init -> flight_begin, flight_end for each read, as far as
 *         flight_has_room.
 *   Threads, locks, clock: none; the caller serialises and tells the time.
 */

struct flight {
	unsigned most;	    /* the limit of the limit */
	unsigned limit;	    /* in flight now */
	unsigned settled;   /* the limit that tries begin from */
	bool fixed;	    /* the limit stays */
	bool tries_less;    /* what is tried, if limit != settled, or comes next */
	unsigned in_flight; /* reads */
	double rate;	    /* of the settled limit, reads per second; 0: not known */
	unsigned rest;	    /* rounds without a try */
	/* the round */
	uint64_t begun_ns; /* later, by the time in which nothing was in flight */
	uint64_t idle_ns;  /* when the last read ended */
	unsigned ended;
	unsigned at_limit; /* of those that ended: with no room left */
};

/* limit: 0: found by trying, up to `most`. */
void flight_init(struct flight *flight, unsigned limit, unsigned most);
bool flight_has_room(const struct flight *flight);
void flight_begin(struct flight *flight, uint64_t now_ns);
void flight_end(struct flight *flight, uint64_t now_ns);
